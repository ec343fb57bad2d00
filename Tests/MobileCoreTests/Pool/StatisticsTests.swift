import MobileCore
import Testing

@Suite struct StatisticsTests {
    @Test func `each connection and the pool tell what they did`() throws {
        let core = try CorePool {
            $0.readers = 3
            $0.page_size = 1024
            $0.cache_bytes = 10 * 1024
        }
        try core.with(writer: true) { (writer) throws in
            try exec(writer, "CREATE TABLE t (x)")
            try CoreError.check { mc_connection_begin(writer, $0) }
            for _ in 0..<3 {
                try exec(
                    writer, "INSERT INTO t WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50) SELECT zeroblob(900) FROM n")
            }
            try CoreError.check { mc_connection_commit(writer, $0) }
        }
        let first = try core.checkOut(loose: true)
        for _ in 0..<2 { #expect(try integer(first, "SELECT count(*) FROM t") == 150) }
        let second = try core.checkOut(loose: true)
        core.giveBack(first)

        var all = [mc_connection_statistics](repeating: mc_connection_statistics(), count: 5)
        #expect(mc_pool_get_connection_statistics(core.pool, &all, 5) == 3)
        #expect(mc_pool_get_connection_statistics(core.pool, nil, 0) == 3)
        let (writer, active, idle) = (all[0], all[1], all[2])
        #expect(writer.is_writer && !writer.is_active && writer.active_ns == 0 && writer.checkouts == 1 && writer.busy_ns > 0)
        #expect(writer.pages.writes > 150 && writer.pages.spills > 50 && writer.pages.used_bytes > 1024)
        #expect(writer.statements.hits == 2 && writer.statements.misses == 2)
        #expect(active.is_active && active.active_ns > 0 && active.busy_ns == 0 && !active.is_writer)
        #expect(idle.checkouts == 1 && idle.pages.misses > 150 && idle.pages.writes == 0)
        #expect(idle.statements.hits == 1 && idle.statements.misses == 1 && idle.statements.cached == 1)

        let pool = core.statistics
        #expect(pool.checkouts == 3 && pool.readers_open == 2 && pool.readers_active == 1 && !pool.writer_is_active)
        #expect(pool.pages.writes == writer.pages.writes && pool.pages.misses == writer.pages.misses + idle.pages.misses)
        #expect(pool.statements.hits == 3 && pool.statements.misses == 3)
        #expect(pool.busy_ns == writer.busy_ns + idle.busy_ns)
        #expect(pool.log.bytes > 150 * 1048)
        core.giveBack(second)
    }

    @Test func `waits are counted, and the longest is kept`() throws {
        let core = try CorePool { $0.readers = 1 }
        let reader = try core.checkOut(loose: true)
        for _ in 0..<3 { #expect(throws: CoreError.self) { _ = try core.checkOut(loose: true, timeout: 1_000_000) } }
        let statistics = core.statistics
        #expect(statistics.waits == 3 && statistics.waited_ns >= 3_000_000)
        #expect(statistics.longest_wait_ns >= 1_000_000 && statistics.longest_wait_ns < statistics.waited_ns)
        core.giveBack(reader)
    }
}
