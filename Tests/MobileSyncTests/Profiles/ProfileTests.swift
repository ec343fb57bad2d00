import Testing

@testable import MobileSync

@Suite struct ProfileTests {
    @Test("SYP-06: stream parameters are a semicolon-separated list of names and values")
    func streamParameters() throws {
        let parameters = try StreamParameters(
            "trusted_certificates=rsaroot.crt; compression=none;url_suffix=/ias_relay_server/client/rs.dll/farm1;e2ee_public_key=e2ee.pem;identity=me.p12;identity_password=a=b;"
        )
        #expect(parameters.trustedCertificates == "rsaroot.crt")
        #expect(parameters.compression == .none)
        #expect(parameters.urlSuffix == "/ias_relay_server/client/rs.dll/farm1")
        #expect(parameters.endToEndPublicKey == "e2ee.pem")
        #expect(parameters.identity == "me.p12")
        #expect(parameters.identityPassword == "a=b")
        #expect(try StreamParameters("") == StreamParameters())
        #expect(StreamParameters().compression == .zlib)
    }

    @Test(arguments: [
        ("compression", "write it as name=value"), ("compression=gzip", "use zlib or none"), ("colour=red", "is unknown"),
        ("compression=zlib;compression=none", "is given twice"),
    ])
    func `a wrong stream parameter is named`(text: String, expected: String) {
        let error = #expect(throws: SyncError.self) { _ = try StreamParameters(text) }
        #expect(error?.kind == .connectionProperty)
        #expect(error?.message.contains(expected) == true)
    }

    @Test("SYP-02 SYP-09: the domain is default and asynchronous replay on, unless they are set")
    func defaults() throws {
        let profile = SynchronizationProfile()
        #expect(profile.domainName == "default")
        #expect(profile.asyncReplay)
        try profile.validate()
    }

    @Test("CPR-01 CPR-02: without other values the port is 5001 and the protocol HTTP")
    func connectionDefaults() {
        let properties = ConnectionProperties()
        #expect(properties.portNumber == 5001)
        #expect(properties.networkProtocol == .http)
    }

    @Test(arguments: [
        (ConnectionProperties(loginCredentials: .init(user: "u", password: "p")), "serverName is missing"),
        (ConnectionProperties(serverName: "127.0.0.1:5002", loginCredentials: .init(user: "u", password: "p")), "contains a port: set portNumber to 5002"),
        (ConnectionProperties(serverName: "[::1]", loginCredentials: .init(user: "u", password: "p")), "has brackets"),
        (ConnectionProperties(serverName: "http://here", loginCredentials: .init(user: "u", password: "p")), "is not a host name"),
        (ConnectionProperties(serverName: "here", portNumber: 0, loginCredentials: .init(user: "u", password: "p")), "portNumber 0"),
        (ConnectionProperties(serverName: "here", portNumber: 65536, loginCredentials: .init(user: "u", password: "p")), "portNumber 65536"),
        (ConnectionProperties(serverName: "here"), "loginCredentials are missing"),
        (ConnectionProperties(serverName: "here", loginCredentials: .init(user: "u", password: nil)), "have no password"),
        (
            ConnectionProperties(serverName: "here", loginCredentials: .init(user: "u", password: "p"), httpHeaders: ["a": "b\r\nc: d"]),
            "control character"
        ),
    ])
    func `a wrong connection property is named`(properties: ConnectionProperties, expected: String) {
        let error = #expect(throws: SyncError.self) { try properties.validateRegistration() }
        #expect(error?.kind == .connectionProperty)
        #expect(error?.code == .connectionPropertyMissing)
        #expect(error?.message.contains(expected) == true)
    }

    @Test func `an activation code stands in for the password`() throws {
        try ConnectionProperties(serverName: "here", loginCredentials: .init(user: "u", password: nil), activationCode: "123").validateRegistration()
    }
}
