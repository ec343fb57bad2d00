/// Certificates for servers that exist for the time of a test. Their private keys are public, so they prove nothing outside of tests.
public enum LoopbackCertificate {
    /// A self-signed certificate for `localhost` and `127.0.0.1`, valid from 2020 to 2120.
    public static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBejCCASCgAwIBAgIUaJ5OyxLlD0R6elzbXmhU/MWuGYkwCgYIKoZIzj0EAwIw
        FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAx
        MDAwMDAwWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAAQwGzqSr4HuK1v12PJyUikhKfo9Fc8IOgh0wsqlgD/XPqFMUEde/sMK
        29UUaXivEBBuAWOC/Ld1IxbK9qOVdjdIo04wTDAaBgNVHREEEzARgglsb2NhbGhv
        c3SHBH8AAAEwDwYDVR0TAQH/BAUwAwEB/zAdBgNVHQ4EFgQUlfkmOM4SXlA4g50R
        rU5NcAtsyt0wCgYIKoZIzj0EAwIDSAAwRQIgOmlsUj1zm8kQ+MwceX3SZUpfea1O
        jAmZTAJyY7l4NIgCIQDo+ItMvknM79wZJ4CgKBAbA/2edeYV/o7hTG7cfRL7UQ==
        -----END CERTIFICATE-----
        """

    /// The private key of ``certificate``.
    public static let privateKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgpgLPa7W2Vx3c9h5W
        6b27cfWkUpheqFnM9m3ffGw1do2hRANCAAQwGzqSr4HuK1v12PJyUikhKfo9Fc8I
        Ogh0wsqlgD/XPqFMUEde/sMK29UUaXivEBBuAWOC/Ld1IxbK9qOVdjdI
        -----END PRIVATE KEY-----
        """

    /// The certificate of another server, for `other.example`.
    public static let stranger = """
        -----BEGIN CERTIFICATE-----
        MIIBcTCCARagAwIBAgIUZZKXIOMDI4Mqsae2WZ8AfdIQjvIwCgYIKoZIzj0EAwIw
        EDEOMAwGA1UEAwwFb3RoZXIwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAw
        MDBaMBAxDjAMBgNVBAMMBW90aGVyMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
        fRGz2WWhBjCeK1aLkZM4+ssmYJ+zsYUspi5f1R/GV6C3zscFX3iLnwt9YgKb3gMt
        jGxcJo3cfVHMXQeo+XcJ96NMMEowGAYDVR0RBBEwD4INb3RoZXIuZXhhbXBsZTAP
        BgNVHRMBAf8EBTADAQH/MB0GA1UdDgQWBBT7T4fhGYGrc6gyV+XQlJlcT4oCaTAK
        BggqhkjOPQQDAgNJADBGAiEAxjaEP0aB+M+LMX1RuYzI2kZwy1lWIIZ9FjLb972y
        X0QCIQC2YXAJ3+Nwu9ew5Bw8pbQvl0zYaD/JHwQZ1ak0p0WeNw==
        -----END CERTIFICATE-----
        """
}
