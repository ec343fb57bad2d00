import Foundation
import MobileProtocol
import MobileStore
import TestSupport
import Testing

@testable import MobileServer

/// Random histories of changes, deletions, backups and restores of the store, of the back end and of both, restarts and prunings, under devices that are
/// now and then away for long.
///
/// The oracle does not know eras: in the end, a new device loads everything, and all devices have its rows, under its keys. No surrogate key was ever
/// given to two rows, no create was rejected, and each accepted create is in the back end or known as lost to its device.
@Suite struct RestoreHistoryTests {
    /// A device with the creates that the server has accepted from it.
    private final class Author {
        let device: TestDevice
        var accepted: [String: Receipt] = [:]
        var lost: Set<String> = []

        init(_ device: TestDevice) { self.device = device }

        func synchronize(_ operations: [OperationFrame] = []) throws {
            device.adjustHeader = { [accepted] header in
                for receipt in accepted.values { header.receipts[receipt.era] = max(header.receipts[receipt.era] ?? 0, receipt.number) }
            }
            var result = try device.synchronize(operations, groups: ["default", "lines"])
            if result.status == 401 {
                try device.register()
                result = try device.synchronize(operations, groups: ["default", "lines"])
            }
            #expect(result.status == 200 && result.results.map(\.outcome) == operations.map { _ in .accepted }, "\(result.results)")
            for case .answer(let answer) in result.frames {
                for (name, receipt) in accepted where answer.lost[receipt.era].map({ $0 < receipt.number }) == true {
                    accepted[name] = nil
                    lost.insert(name)
                }
            }
            for (operation, answer) in zip(operations, result.results) { accepted[operation.attributes["name"]?.string ?? ""] = answer.receipt }
        }
    }

    private struct History {
        var random: SeededGenerator
        let server: TestServer
        var authors: [Author] = []
        var number = 0
        var stores: [String] = [], backEnds: [String] = []
        var names: Set<String> = []

        init(seed: UInt64, _ adjust: @escaping (inout ServerConfiguration) -> Void) throws {
            random = SeededGenerator(seed: seed)
            server = try FieldSales.server(adjust: adjust)
            for index in 0..<3 { authors.append(Author(try TestDevice.inRegion(index < 2 ? "NORTH" : "SOUTH", of: server, name: "device \(index)"))) }
        }

        mutating func backUp(store: Bool, backEnd: Bool) throws {
            number += 1
            let path = server.folder.file("backup \(number)")
            if store {
                try server.saveCache(to: path)
                stores.append(path)
            }
            if backEnd {
                try server.saveBackEnd(to: path + ".back")
                backEnds.append(path + ".back")
            }
        }

        mutating func restore(store: Bool, backEnd: Bool) throws {
            // Databases can also be replaced under the running server.
            let isRunning = Bool.random(using: &random)
            if backEnd, let path = backEnds.randomElement(using: &random) {
                if isRunning, BackEndKind.underTest == .postgreSQL {
                    try server.failOver(toBackEnd: path)
                } else {
                    try server.reopen(withBackEnd: path)
                }
            }
            if store, let path = stores.randomElement(using: &random) {
                if isRunning, StoreUnderTest.isPostgreSQL { try server.failOver(toCache: path) } else { try server.reopen(withCache: path) }
            }
        }

        mutating func create() throws {
            guard let author = authors.randomElement(using: &random) else { return }
            number += 1
            let name = "created \(number)", region = Bool.random(using: &random) ? "NORTH" : "SOUTH"
            names.insert(name)
            if author.device.keyRange.map({ $0.first > $0.last }) ?? true {
                author.device.keysLeft = 0
                try author.synchronize()
            }
            let create = author.device.create("Customer", ["name": .string(name), "region": .string(region), "credit": 1, "active": true])
            try author.synchronize([create])
        }

        mutating func step() throws {
            switch Int.random(in: 0..<15, using: &random) {
            case 0: try backUp(store: true, backEnd: false)
            case 1: try backUp(store: false, backEnd: true)
            case 2: try backUp(store: true, backEnd: true)
            case 3: try restore(store: true, backEnd: false)
            case 4: try restore(store: false, backEnd: true)
            case 5: try restore(store: true, backEnd: true)
            case 6: try server.restart()
            case 7: _ = try server.server.administration.prune()
            case 8, 9: try create()
            case 10:
                number += 1
                let change = number
                try server.backEnd {
                    _ = try $0.execute(#"UPDATE "the customers" SET name = name || ?1 WHERE "customer no" < 3"#, [.text(" \(change)")])
                }
            case 11, 12:
                // Rows that some devices have seen and others have not, and whose deletions are forgotten before all devices have seen these.
                try server.backEnd {
                    _ = try $0.execute(#"INSERT INTO "the customers" (name, region) VALUES ('passing', 'NORTH'), ('passing', 'NORTH')"#)
                }
                for author in authors where Bool.random(using: &random) { try author.synchronize() }
                try server.backEnd { _ = try $0.execute(#"DELETE FROM "the customers" WHERE name = 'passing'"#) }
                try authors.randomElement(using: &random)?.synchronize()
                if Bool.random(using: &random) { _ = try server.server.administration.prune() }
            default: try authors.randomElement(using: &random)?.synchronize()
            }
        }

        /// Brings all devices up to date, and compares them with a new one.
        func check(_ place: Comment) throws {
            for _ in 0..<2 { for author in authors { try author.synchronize() } }
            for (index, region) in [(0, "NORTH"), (1, "NORTH"), (2, "SOUTH")] {
                let fresh = try TestDevice.inRegion(region, of: server, name: "fresh \(region) \(index)")
                #expect(authors[index].device.rows == fresh.rows, place)
            }
            let present = try server.backEnd {
                try $0.rows(#"SELECT name FROM "the customers" WHERE name LIKE 'created%'"#).compactMap { $0[0].text }
            }
            let lost = authors.reduce(Set<String>()) { $0.union($1.lost) }
            #expect(names.subtracting(present).isSubset(of: lost), place)
            #expect(Set(present).count == present.count, place)
            let double = try server.state { try $0.number("SELECT count(*) FROM (SELECT sk FROM _key GROUP BY sk HAVING count(*) > 1) AS d") }
            #expect(double == 0, place)
        }
    }

    @Test(arguments: RestoreSeeds.range)
    func `restores of the store, of the back end and of both: devices converge, and no accepted operation is silently lost`(seed: Int) throws {
        var history = try History(seed: UInt64(seed)) {
            $0.retention.deletedRows = 1
            $0.keyRangeSize = 4
        }
        for round in 0..<3 {
            for _ in 0..<14 { try history.step() }
            try history.check("seed \(seed), round \(round)")
        }
    }
}
