// MobileCrypto
