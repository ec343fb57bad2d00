import MobileCore
import MobileStore
import Testing

@Suite struct VersionTests {
    @Test func `the versions are those of the core and of the SQLite that runs`() throws {
        #expect(Database.coreVersion == MC_VERSION)
        let database = try Database(.inMemory())
        #expect(try database.read { try $0.first("SELECT sqlite_version()") } == [.text(Database.sqliteVersion)])
    }
}
