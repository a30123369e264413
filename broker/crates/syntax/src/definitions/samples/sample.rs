//! Module.

pub use a::{B, C};
use d::E;

/// Limit.
pub const LIMIT: u8 = 1;
static NAME: &str = "";
mod outside;

/// A.
#[derive(Debug)]
pub struct A<T> {
    field: T,
}
struct Unit;
union U { a: u8 }
enum Kind {
    One,
    /// Two.
    Two(u8),
}
type Short = A<u8>;
trait Shape {
    const SIDES: u8;
    type Item;
    fn area(&self) -> f32;
    fn twice(&self) -> f32 { 2.0 }
}
impl<T> A<T> {
    const ONE: u8 = 1;
    pub fn new() -> Self { fn inner() {} todo!() }
}
impl<T> Shape for A<T>
where
    T: Copy,
{
    type Item = u8;
    fn area(&self) -> f32 { 1.0 }
}
macro_rules! twice {
    ($it:expr) => { $it * 2 };
}
extern "C" {
    fn outside_c();
}
async fn run() {} // trailing
fn after_trailing() {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Works.
    #[test]
    #[should_panic]
    fn works() {}

    #[tokio::test]
    async fn waits() {}
}
