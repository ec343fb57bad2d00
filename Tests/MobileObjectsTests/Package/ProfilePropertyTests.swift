import Foundation
import MobileObjects
import MobileStore
import Testing

/// Settings of a connection profile under their documented names.
@Suite struct ProfilePropertyTests {
    @Test("DBP-07: a database file without a folder lies in the documents directory; a path may lead to any volume")
    func databaseFile() throws {
        var profile = ConnectionProfile(path: "")
        profile.databaseFile = "mydb.db"
        let documents = try #require(FileManager.default.urls(for: .documentDirectory, in: .userDomainMask).first)
        #expect(profile.path == documents.appending(path: "mydb.db").path && profile.databaseFile == profile.path)

        let shop = try Shop()
        let card = shop.directory.appending(path: "card")
        try FileManager.default.createDirectory(at: card, withIntermediateDirectories: true)
        let path = card.appending(path: "mydb.db").path
        try shop.database.closeConnection()
        try shop.database.connectionProfile.setString(path, forProperty: "databaseFile")
        try shop.database.createDatabase()
        #expect(FileManager.default.fileExists(atPath: path) && shop.database.databasePath == path)
    }

    @Test("DBP-12: properties are set by their names, and a name or value that there is not changes nothing")
    func byName() throws {
        var profile = ConnectionProfile(path: "a.db")
        try profile.setString("8192", forProperty: "pageSize")
        try profile.setString("3000000", forProperty: "cacheSize")
        try profile.setString("5", forProperty: "maxDbConnections")
        try profile.setBoolean(true, forProperty: "allowConcurrentWrite")
        #expect(profile.pageSize == 8192 && profile.cacheSize == .megabytes(3) && profile.maxConnections == 5)
        for (value, property) in [("x", "pageSize"), ("1", "pagesize"), ("", "databaseFile"), ("true", "allowConcurrentWrite"), ("9e9", "cacheSize")]
        {
            let error = #expect(throws: ObjectError.self) { try profile.setString(value, forProperty: property) }
            #expect(error?.code == .misuse && error?.message.contains(property) == true)
        }
        for property in ["pageSize", "allowConcurrentWrites"] {
            #expect(#expect(throws: ObjectError.self) { try profile.setBoolean(true, forProperty: property) }?.code == .misuse)
        }
        #expect(profile.pageSize == 8192 && profile.cacheSize == .megabytes(3) && profile.maxConnections == 5 && profile.path == "a.db")
    }
}
