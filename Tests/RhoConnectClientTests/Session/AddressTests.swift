import MobileStore
import Testing

@testable import RhoConnectClient

@Suite struct AddressTests {
    @Test("RC-001: the newer style builds its addresses below rc/v1, with a slash where the base has none", arguments: ["http://h", "http://h/"])
    func currentAddresses(base: String) throws {
        let address = try ServerAddress(base, .version4)
        #expect(address.login == "http://h/rc/v1/app/login")
        #expect(address.createClient == "http://h/rc/v1/clients")
        #expect(address.register("c1") == "http://h/rc/v1/clients/c1/register")
        #expect(address.reset("c1", ["Item"]) == "http://h/rc/v1/clients/c1/reset")
        #expect(address.bulkData(client: "c1", partition: "user", sources: ["Item"]) == "http://h/rc/v1/app/bulk_data")
    }

    @Test("RC-002: the older style has its addresses below the application", arguments: ["http://h/application", "http://h/application/"])
    func olderAddresses(base: String) throws {
        let address = try ServerAddress(base, .version3)
        #expect(address.login == "http://h/application/clientlogin")
        #expect(address.createClient == "http://h/application/clientcreate")
        #expect(address.reset("c1", ["A b"]) == "http://h/application/clientreset?client_id=c1&sources[][name]=A%20b")
        #expect(
            address.bulkData(client: "c1", partition: "app", sources: ["A", "B"])
                == "http://h/application/bulk_data?client_id=c1&partition=app&sources=A,B")
    }

    @Test("RC-003 RC-004: queries and uploads of the older style go to the base without its slash, with version 3 in both styles")
    func queryAddresses() throws {
        let older = try ServerAddress("http://h/application/", .version3), current = try ServerAddress("http://h/", .version4)
        #expect(older.upload("Item") == "http://h/application")
        #expect(
            older.query("Item", client: "c", pageSize: 7, token: "1", extra: "")
                == "http://h/application?client_id=c&p_size=7&version=3&source_name=Item&token=1")
        #expect(
            current.query("Item", client: "c", pageSize: 7, token: "88", extra: "query[a]=b")
                == "http://h/app/v1/Item?p_size=7&version=3&token=88&query[a]=b")
        #expect(
            current.search("Item", client: "c", path: "search", pageSize: 7, token: "", parameters: "search[title]=Saw")
                == "http://h/rc/v1/app/search?p_size=7&version=3&search[title]=Saw")
        #expect(
            older.search("Item", client: "c", path: "search", pageSize: 7, token: "5", parameters: "")
                == "http://h/application/search?client_id=c&p_size=7&version=3&sources[][name]=Item&sources[][token]=5")
    }

    @Test func `files come from scheme, host and port of the server`() throws {
        let address = try ServerAddress("https://h:8443/application", .version3)
        #expect(address.file("/data/a.data.rzip") == "https://h:8443/data/a.data.rzip")
    }

    @Test(arguments: ["", "h", "ftp://h/", "http://h/?a=b", "http://h /"])
    func `texts that are not HTTP addresses are refused`(url: String) {
        #expect(throws: RhoConnectError.self) { try ServerAddress(url, .version4) }
    }
}
