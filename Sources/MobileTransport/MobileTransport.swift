// MobileTransport
