//! Cryptography of `sigstore-verify` by ring, which TLS uses as well. Verifies, and neither signs nor makes keys.

use std::{cell::RefCell, sync::Once};

use ring::{digest, signature};
use sigstore_verify::{
    crypto::{CryptoProvider, Error, HashContext, Result, SigningScheme, install_default_provider},
    types::HashAlgorithm,
};

#[derive(Debug)]
struct Ring;

struct Hasher(digest::Context);

thread_local! {
    /// The file that this thread verifies. ring takes a signed file and never its digest, which is all that it is given for most
    /// signatures of a file.
    static FILE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Makes ring the provider of this process.
pub(crate) fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // Fails if there is one already, and no other code installs one.
        let _first = install_default_provider(&Ring);
    });
}

/// Does some work that verifies signatures of this file.
pub(crate) fn with_file<T>(file: &[u8], work: impl FnOnce() -> T) -> T {
    install();
    FILE.set(file.to_vec());
    let done = work();
    FILE.take();
    done
}

impl CryptoProvider for Ring {
    fn hash(&self, algorithm: HashAlgorithm) -> Result<Box<dyn HashContext>> {
        Ok(Box::new(Hasher(digest::Context::new(hash_of(algorithm)?))))
    }

    fn verify_raw(&self, scheme: SigningScheme, key: &[u8], data: &[u8], signature: &[u8]) -> Result<()> {
        let key = signature::UnparsedPublicKey::new(algorithm(scheme)?, key);
        key.verify(data, signature)
            .map_err(|_| Error::Verification("the signature does not match".to_owned()))
    }

    /// Verifies the file that has this digest; a digest of any other file is refused.
    fn verify_prehashed(
        &self,
        scheme: SigningScheme,
        key: &[u8],
        digest: &[u8],
        signature: &[u8],
    ) -> Result<()> {
        let hash = scheme.hash_algorithm().ok_or_else(|| unsupported(scheme.name()))?;
        let hash = hash_of(hash)?;
        FILE.with_borrow(|file| match digest::digest(hash, file).as_ref() == digest {
            true => self.verify_raw(scheme, key, file, signature),
            false => Err(Error::Verification("the digest is not that of the file".to_owned())),
        })
    }
}

impl HashContext for Hasher {
    fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    fn finalize(self: Box<Self>) -> Vec<u8> {
        self.0.finish().as_ref().to_vec()
    }
}

fn hash_of(algorithm: HashAlgorithm) -> Result<&'static digest::Algorithm> {
    match algorithm {
        HashAlgorithm::Sha2256 => Ok(&digest::SHA256),
        HashAlgorithm::Sha2384 => Ok(&digest::SHA384),
        HashAlgorithm::Sha2512 => Ok(&digest::SHA512),
        _ => Err(unsupported(&algorithm.to_string())),
    }
}

fn algorithm(scheme: SigningScheme) -> Result<&'static dyn signature::VerificationAlgorithm> {
    Ok(match scheme {
        SigningScheme::EcdsaP256Sha256 => &signature::ECDSA_P256_SHA256_ASN1,
        SigningScheme::EcdsaP256Sha384 => &signature::ECDSA_P256_SHA384_ASN1,
        SigningScheme::EcdsaP384Sha256 => &signature::ECDSA_P384_SHA256_ASN1,
        SigningScheme::EcdsaP384Sha384 => &signature::ECDSA_P384_SHA384_ASN1,
        SigningScheme::Ed25519 => &signature::ED25519,
        SigningScheme::RsaPkcs1Sha256 => &signature::RSA_PKCS1_2048_8192_SHA256,
        SigningScheme::RsaPkcs1Sha384 => &signature::RSA_PKCS1_2048_8192_SHA384,
        SigningScheme::RsaPkcs1Sha512 => &signature::RSA_PKCS1_2048_8192_SHA512,
        SigningScheme::RsaPssSha256 => &signature::RSA_PSS_2048_8192_SHA256,
        SigningScheme::RsaPssSha384 => &signature::RSA_PSS_2048_8192_SHA384,
        SigningScheme::RsaPssSha512 => &signature::RSA_PSS_2048_8192_SHA512,
        _ => return Err(unsupported(scheme.name())),
    })
}

fn unsupported(name: &str) -> Error {
    Error::UnsupportedAlgorithm(format!("{name} is not supported"))
}

#[cfg(test)]
mod tests {
    use ring::{rand::SystemRandom, signature::KeyPair};
    use sigstore_verify::crypto::provider::default_provider;

    use super::*;

    #[test]
    fn a_digest_is_verified_as_its_file_is() {
        let (random, algorithm) = (SystemRandom::new(), &signature::ECDSA_P384_SHA384_ASN1_SIGNING);
        let key = signature::EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        let key = signature::EcdsaKeyPair::from_pkcs8(algorithm, key.as_ref(), &random).unwrap();
        let (public, signed) = (key.public_key().as_ref(), key.sign(&random, b"file").unwrap());
        let verifies = |held: &[u8], digest_of: &[u8], scheme| {
            let digest = digest::digest(&digest::SHA384, digest_of);
            with_file(held, || {
                default_provider().verify_prehashed(scheme, public, digest.as_ref(), signed.as_ref()).is_ok()
            })
        };
        let scheme = SigningScheme::EcdsaP384Sha384;
        assert!(verifies(b"file", b"file", scheme));
        assert!(!verifies(b"other", b"file", scheme), "the file is not at hand");
        assert!(!verifies(b"other", b"other", scheme));
        assert!(!verifies(b"file", b"file", SigningScheme::EcdsaP384Sha256));
        assert!(!verifies(b"file", b"file", SigningScheme::Ed25519));
        assert!(!verifies(b"file", b"file", SigningScheme::MlDsa44));
    }
}
