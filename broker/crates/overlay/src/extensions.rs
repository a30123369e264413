//! Values of any type that are kept with something else, which need not know of them.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    sync::Arc,
};

use parking_lot::Mutex;

/// Values by type, at most one of each, made when first asked for.
#[derive(Default)]
pub struct Extensions(Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>);

impl Extensions {
    pub fn get<T: Any + Default + Send + Sync>(&self) -> Arc<T> {
        let mut all = self.0.lock();
        let value = all.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default()));
        // The entry of a type holds a value of that type.
        Arc::clone(value).downcast().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    use super::*;

    #[test]
    fn each_type_has_one_value() {
        let all = Extensions::default();
        all.get::<AtomicU32>().store(7, Relaxed);
        assert_eq!(all.get::<AtomicU32>().load(Relaxed), 7);
        assert_eq!(*all.get::<String>(), "");
    }
}
