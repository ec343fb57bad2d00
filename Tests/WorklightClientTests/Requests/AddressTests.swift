import MobileStore
import TestSupport
import Testing
import WorklightClient

/// Worklight protocol, sections 1.1 and 10.
@Suite struct AddressTests {
    private func configuration(_ scheme: String, _ port: String, _ context: String) -> WLConfiguration {
        WLConfiguration(scheme: scheme, host: "h", port: port, serverContext: context, applicationID: "Demo", applicationVersion: "1.0")
    }

    @Test(
        "WL-001 WL-002 WL-003: the root address",
        arguments: [
            ("http", "10080", "/Demo/", "http://h:10080/Demo"), ("http", "80", "Demo", "http://h:80/Demo"),
            ("https", "443", "/Demo", "https://h/Demo"),
            ("https", "8443", "/a/b/", "https://h:8443/a/b"), ("http", "", "/", "http://h"), ("https", "", "", "https://h"),
            ("http", "443", "/", "http://h:443"),
        ])
    func root(scheme: String, port: String, context: String, expected: String) {
        #expect(configuration(scheme, port, context).rootURL == expected)
    }

    @Test("WL-004: the application's address lies below the services")
    func application() {
        #expect(configuration("http", "10080", "/Demo/").applicationURL == "http://h:10080/Demo/apps/services/api/Demo/iOSnative/")
        #expect(configuration("http", "", "/").applicationURL == "http://h/apps/services/api/Demo/iOSnative/")
    }

    private func plist(_ members: String) throws -> (TemporaryDirectory, String) {
        let directory = try TemporaryDirectory()
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0"><dict>\(members)</dict></plist>
            """
        return (directory, try directory.write(text.utf8, to: "worklight.plist"))
    }

    private static let file = """
        <key>protocol</key><string>https</string><key>host</key><string>10.0.0.5</string><key>wlServerContext</key><string>/Demo/</string>
        <key>application id</key><string>Demo</string><key>application version</key><string>1.0</string>
        <key>environment</key><string>iOSnative</string><key>wlUid</key><string>abc==</string>
        """

    @Test(
        "WL-150: the keys of worklight.plist",
        arguments: [
            ("<key>port</key><integer>10080</integer><key>platformVersion</key><string>6.0.0</string>", "10080", "6.0.0"),
            ("<key>port</key><string>10080</string><key>wlPlatformVersion</key><string>6.1.0</string>", "10080", "6.1.0"),
            ("<key>port</key><string></string>", "", nil),
        ])
    func file(members: String, port: String, platform: String?) throws {
        let (directory, path) = try plist(Self.file + members)
        let configuration = try WLConfiguration(plist: path)
        #expect(configuration.scheme == "https")
        #expect(configuration.host == "10.0.0.5")
        #expect(configuration.port == port)
        #expect(configuration.serverContext == "/Demo/")
        #expect(configuration.applicationID == "Demo")
        #expect(configuration.applicationVersion == "1.0")
        #expect(configuration.environment == "iOSnative")
        #expect(configuration.platformVersion == platform)
        withExtendedLifetime(directory) {}
    }

    @Test func `a wrong file names its fault`() throws {
        let (first, missing) = try plist("<key>protocol</key><string>http</string>")
        #expect(#expect(throws: WLConfigurationError.self) { try WLConfiguration(plist: missing) }?.code == .missingValue)
        let (second, wrong) = try plist(Self.file + "<key>port</key><array/>")
        #expect(#expect(throws: WLConfigurationError.self) { try WLConfiguration(plist: wrong) }?.code == .invalidValue)
        let (third, scheme) = try plist(Self.file.replacing("https", with: "ftp"))
        #expect(#expect(throws: WLConfigurationError.self) { try WLConfiguration(plist: scheme) }?.code == .invalidValue)
        #expect(#expect(throws: WLConfigurationError.self) { try WLConfiguration(plist: "/does/not/exist") }?.code == .unreadable)
        withExtendedLifetime((first, second, third)) {}
    }
}
