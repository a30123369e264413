//! A vector of length one in a byte for each number, and products of such vectors.

use super::DIMENSIONS;

/// Bytes of a vector where it is kept: its unit, and its numbers.
pub(crate) const BYTES: usize = 4 + DIMENSIONS;

/// A vector of length one, or of none for a text without tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Vector {
    /// Value of a one among the numbers.
    unit: f32,
    numbers: [i8; DIMENSIONS],
}

impl Vector {
    /// Returns the direction of a vector.
    pub(super) fn of(sum: &[f32; DIMENSIONS]) -> Self {
        let length = sum.iter().map(|it| it * it).sum::<f32>().sqrt();
        let largest = sum.iter().fold(0.0_f32, |largest, it| largest.max(it.abs()));
        if largest <= 0.0 {
            return Self { unit: 0.0, numbers: [0; DIMENSIONS] };
        }
        let scale = 127.0 / largest;
        Self { unit: largest / (127.0 * length), numbers: sum.map(|it| (it * scale).round() as i8) }
    }

    pub(crate) fn to_bytes(self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..4].copy_from_slice(&self.unit.to_le_bytes());
        bytes[4..].iter_mut().zip(self.numbers).for_each(|(byte, it)| *byte = it.cast_unsigned());
        bytes
    }
}

/// The cosine of the angle between a vector and one that is kept as bytes.
pub(crate) fn dot(vector: &Vector, bytes: &[u8; BYTES]) -> f32 {
    let (unit, numbers) = bytes.split_first_chunk::<4>().unwrap_or((&[0; 4], &[]));
    // The compiler makes instructions for many numbers at once of it.
    let product = |(a, b): (&i8, &u8)| i32::from(i16::from(*a) * i16::from(b.cast_signed()));
    let sum: i32 = vector.numbers.iter().zip(numbers).map(product).sum();
    sum as f32 * vector.unit * f32::from_le_bytes(*unit)
}
