import Foundation
import MobileExecution
import MobileStore
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import MobileServer

/// Random histories of refreshes of two partitions that share rows, over a back end that changes while it is read.
@Suite(.runsOnce) struct RefreshHistoryTests {
    private final class Changes: Sendable {
        private struct State {
            var random: SeededGenerator
            /// The keys that devices gave to their rows.
            var given: [Int64: Int64] = [:]
            var next: Int64 = 1000
        }

        private let depot: Depot
        private let state: SystemLock<State>

        init(_ depot: Depot, seed: Int) {
            self.depot = depot
            state = SystemLock(State(random: SeededGenerator(seed: UInt64(seed))))
        }

        var given: [Int64: Int64] { state.withLock { $0.given } }

        /// Changes a few articles.
        func make() {
            state.withLock { state in
                for _ in 0..<Int.random(in: 0...3, using: &state.random) {
                    let number = Int64.random(in: 1...9, using: &state.random)
                    let article = Depot.Article(
                        name: "n\(Int.random(in: 1...3, using: &state.random))",
                        shelves: ["A", "B", "AB", ""].randomElement(using: &state.random) ?? "")
                    switch Int.random(in: 0..<6, using: &state.random) {
                    case 0: depot.set(number, nil)
                    case 1:
                        // A device creates a row: a new one, or one whose number was free again.
                        let isFree = depot.contents.withLock { $0.articles[number] == nil }
                        state.next += 1
                        let created = isFree ? number : state.next
                        state.given[created] = 100_000 + state.next
                        depot.create(created, article, key: 100_000 + state.next)
                    default: depot.set(number, article)
                    }
                }
            }
        }

        func chance(_ count: Int) -> Bool { state.withLock { Int.random(in: 0..<count, using: &$0.random) == 0 } }
    }

    private static var seeds: Range<Int> {
        let first = ProcessInfo.processInfo.environment["RANDOM_SEED"].flatMap { Int($0) } ?? 0
        return first..<first + 6
    }

    @Test("servers whose refreshes meet agree with the back end in the end", arguments: StateStoreTests.Engine.available, seeds)
    func histories(engine: StateStoreTests.Engine, seed: Int) throws {
        let depot = Depot(hasLog: seed % 2 == 0), changes = Changes(depot, seed: seed)
        let count = engine == .postgreSQL ? 2 : 1, clocks = (0..<count).map { _ in VirtualClock(start: .seconds(1_800_000_000)) }
        // The first server never beats, and the second one has little patience: it takes the lease over in the middle of loads.
        let rules = (0..<count).map { index in
            RefreshRules(
                beat: index == 0 ? .seconds(3600) : .milliseconds(20), patience: index == 0 ? .seconds(10) : .milliseconds(1), poll: .milliseconds(1),
                wait: .seconds(60), rowsInMemory: 3, bytesInMemory: 1 << 20, rowsInBlock: 2)
        }
        let segments = SegmentRules(leastRows: seed % 3 == 0 ? 2 : 4096)
        let servers = try DepotServers(depot, engine, count: count, clocks: clocks, rules: rules, segments: segments)
        depot.willLoad.withLock { hook in
            hook = { _ in if changes.chance(2) { changes.make() } }
        }
        depot.willRead.withLock { $0 = { if changes.chance(4) { changes.make() } } }
        for round in 0..<25 {
            changes.make()
            let work = (0..<count * 2).map { index in
                RefreshTests.Work { try servers.refresh(["A", "AB", "B", "BA"][(round + index) % 4], on: index % count) }
            }
            for work in work { try work.finish() }
            if changes.chance(4) { clocks[0].advance(by: .days(2)) }
            guard changes.chance(3) else { continue }
            // The back end rests, and each server looks once: it must serve what is there.
            let hooks = (depot.willLoad.withLock { $0 }, depot.willRead.withLock { $0 })
            depot.willLoad.withLock { $0 = nil }
            depot.willRead.withLock { $0 = nil }
            for index in 0..<count {
                try servers.refresh("AB", on: index)
                try check(servers, changes, "seed \(seed), round \(round), server \(index)")
            }
            depot.willLoad.withLock { $0 = hooks.0 }
            depot.willRead.withLock { $0 = hooks.1 }
        }
    }

    private func check(_ servers: DepotServers, _ changes: Changes, _ place: String) throws {
        let articles = servers.depot.contents.withLock { $0.articles }
        var keys: [Int64: Int64] = [:]
        for shelf in "AB" {
            let rows = try servers.rows(shelf), expected = articles.filter { $0.value.shelves.contains(shelf) }
            #expect(rows.mapValues(\.name) == expected.mapValues(\.name), "\(place), shelf \(shelf)")
            for (number, row) in rows {
                #expect(keys.updateValue(row.key, forKey: number) ?? row.key == row.key, "\(place): two keys of \(number)")
                if let given = changes.given[number] { #expect(row.key == given, "\(place): the key of \(number)") }
                let parent = try servers.key(of: number / 2)
                #expect(row.parent == parent, "\(place): the parent of \(number)")
            }
        }
        #expect(Set(keys.values).count == keys.count)
    }
}
