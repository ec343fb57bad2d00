import MobileVault
import Testing

@testable import MobileVault

/// SMP 2.3, `SUPDataVault`: `setString`, `setValue`, `deleteValue`, `getDataNames`, `lock`.
@Suite struct StoredValuesTests {
    let vaults: TestVaults
    let vault: DataVault

    init() throws {
        vaults = try TestVaults()
        vault = try vaults.crm()
    }

    @Test("VLT-16: a text is stored, read by every object of the vault, and replaced", arguments: [0, 1, 300_000])
    func strings(count: Int) throws {
        let text = String(repeating: "ö🔑\u{0}", count: count)
        try vault.setString("other", value: "other")
        for value in ["first", text] {
            try vault.setString("name", value: value)
            #expect(try vault.string("name") == value)
        }
        let other = try vaults.otherCRM()
        try other.unlock("good", salt: "salt")
        #expect(try other.string("name") == text)
        #expect(try other.string("other") == "other" && other.string("nothing") == nil)
        #expect(try other.value("name") == nil)
    }

    @Test("VLT-17: bytes are stored, read by every object of the vault, and replaced", arguments: [0, 1, 16, 300_000])
    func bytes(count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        try vault.setValue("name", value: [1, 2, 3])
        try vault.setValue("name", value: bytes)
        let other = try vaults.otherCRM()
        try other.unlock("good", salt: "salt")
        #expect(try other.value("name") == bytes && other.value("nothing") == nil)
        #expect(try other.string("name") == nil)
    }

    @Test("VLT-16 VLT-17: a locked vault takes nothing and gives nothing")
    func locked() throws {
        try vault.setString("text", value: "value")
        try vault.setValue("bytes", value: [1])
        vault.lock()
        let before = try vaults.contents()
        let calls: [() throws -> Void] = [
            { try vault.setString("text", value: "other") }, { _ = try vault.string("text") }, { try vault.setValue("bytes", value: [2]) },
            { _ = try vault.value("bytes") }, { try vault.deleteValue("text") }, { _ = try vault.dataNames() },
            { try vault.setString("", value: "") },
        ]
        for call in calls {
            let error = failure(call)
            #expect(error?.code == .locked && error?.reason == .locked)
            #expect(error?.message == "vault \"crm\" is locked: unlock it first")
        }
        #expect(try vaults.contents() == before)
    }

    @Test("VLT-18: a value is removed, and no other one; removing what is not there changes nothing")
    func delete() throws {
        try vault.setString("text", value: "value")
        try vault.setValue("bytes", value: [1])
        #expect(try vault.deleteValue("text"))
        #expect(try vault.string("text") == nil && vault.value("bytes") == [1])
        #expect(try vault.dataNames().map(\.name) == ["bytes"])
        #expect(try !vault.deleteValue("text"))
        try vault.setString("text", value: "again")
        #expect(try vault.string("text") == "again" && vault.value("bytes") == [1])
    }

    @Test("VLT-09: names and types of what is stored; a type that another version stored is unknown, and both ways of reading try it")
    func dataNames() throws {
        #expect(try vault.dataNames() == [])
        try vault.setString("text", value: "a")
        try vault.setValue("bytes", value: [1])
        try vault.set("old text", 0, Array("früher".utf8))
        try vault.set("old bytes", 77, [0xFF, 0xFE])
        #expect(
            try vault.dataNames() == [
                .init(name: "bytes", type: .binary), .init(name: "old bytes", type: .unknown), .init(name: "old text", type: .unknown),
                .init(name: "text", type: .string),
            ])
        #expect(try vault.string("old text") == "früher" && vault.value("old text") == Array("früher".utf8))
        #expect(try vault.string("old bytes") == nil && vault.value("old bytes") == [0xFF, 0xFE])
        try vault.setValue("text", value: [2])
        #expect(try vault.dataNames().last == .init(name: "text", type: .binary))
        #expect(try vault.dataNames().count == 4)
    }

    @Test("a value needs a name; nothing is stored without one")
    func emptyName() throws {
        let before = try vaults.contents()
        for error in [failure { try vault.setString("", value: "x") }, failure { try vault.setValue("", value: []) }] {
            #expect(error?.code == .invalidArgument && error?.reason == .invalidArgument)
        }
        #expect(try vaults.contents() == before)
        #expect(try vault.string("") == nil && !vault.deleteValue(""))
    }

    @Test("VLT-13 VLT-14: a vault is locked or not; locking a locked one has no effect")
    func lock() throws {
        #expect(!vault.isLocked)
        vault.lock()
        #expect(vault.isLocked)
        vault.lock()
        #expect(vault.isLocked)
        try vault.unlock("good", salt: "salt")
        #expect(!vault.isLocked)
    }

    @Test("VLT-41: a vault that is locked in a defer is locked whatever happens in between")
    func alwaysLocked() throws {
        struct Failure: Error {}
        func use(fails: Bool) throws -> String? {
            try vault.unlock("good", salt: "salt")
            defer { vault.lock() }
            try vault.setString("name", value: "value")
            if fails { throw Failure() }
            return try vault.string("name")
        }
        #expect(throws: Failure.self) { _ = try use(fails: true) }
        #expect(vault.isLocked)
        #expect(try use(fails: false) == "value")
        #expect(vault.isLocked)
    }

    @Test("two objects see each other's changes at once; each is locked for itself")
    func twoObjects() throws {
        let other = try vaults.otherCRM()
        try other.unlock("good", salt: "salt")
        try vault.setString("name", value: "one")
        try other.setString("name", value: "two")
        #expect(try vault.string("name") == "two")
        try vault.deleteValue("name")
        #expect(try other.string("name") == nil)
        vault.lock()
        #expect(!other.isLocked)
    }

    @Test("many threads use one vault at the same time, and nothing is lost")
    func manyThreads() async throws {
        let vault = vault
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<12 {
                group.addTask {
                    let own = try await DataVault.getVault("crm", in: vault.directory)
                    try await own.unlock("good", salt: "salt")
                    for used in [vault, own] { try await used.setString("\(number) \(used === own)", value: "\(number)") }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await vault.dataNames().count == 24)
        for number in 0..<12 { #expect(try await vault.string("\(number) true") == "\(number)") }
    }
}
