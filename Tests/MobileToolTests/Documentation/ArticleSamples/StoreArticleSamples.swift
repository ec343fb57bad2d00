import MobileStore

/// The code of the articles of MobileStore, to be compiled: see `ArticleSampleTests`.
private enum StoreArticleSamples {
    func importing(_ connection: Connection, _ source: [[UInt8]]) throws -> ImportResult {
        var body = source.makeIterator()
        let importer = try connection.importer(into: "customer", columns: ["id", "name", "city"])
        while let chunk = body.next() { try importer.push(chunk) }
        let result = try importer.finish()
        return result
    }

    func texts(_ importer: BulkImporter, _ texts: [[UInt8]]) throws {
        for text in texts {
            try importer.push(text)
            try importer.endText()
        }
        try importer.finish()
    }

    func tables(_ connection: Connection) throws -> BulkImporter {
        var customers = ImportTable("customer", columns: ["id", "name", "city"])
        customers.pending = PendingProtection(originalTable: "customer_os", assignments: [(column: "_im", value: 1)])
        let gone = ImportTable("customer", member: "customer.deleted", columns: ["id"], mode: .delete)
        var lines = ImportTable("order_line", columns: ["order", "line", "amount"])
        lines.keyColumns = ["order", "line"]
        let importer = try connection.importer(into: [customers, gone, lines])
        return importer
    }

    func overview(_ chunks: [[UInt8]], show: (Int64, String) -> Void) throws -> ImportResult {
        let store = try Database(ConnectionProfile(path: "crm.db", pageSize: 16_384, cacheSize: .megabytes(20)))
        let result = try store.write { connection in
            let rows = try connection.importer(into: "customer", columns: ["id", "name", "city"], mode: .upsert)
            for chunk in chunks { try rows.push(chunk) }
            return try rows.finish()
        }
        var pages = try store.pages("SELECT id, name, city FROM customer ORDER BY name", size: 100)
        while let page = try pages.next() {
            for row in page { show(row.integer(0), row.string(1) ?? "") }
        }
        return result
    }

    func tuning(log: @escaping @Sendable (String) -> Void) throws -> [Value]? {
        var profile = ConnectionProfile(path: "crm.db", pageSize: 16_384, cacheSize: .megabytes(20))
        profile.warning = { log($0.message) }
        let store = try Database(profile)
        print(store.settings.cacheSize)
        let statistics = store.statistics
        print(statistics.pages.misses, statistics.pages.spills, statistics.statements.misses, statistics.longestWait)
        let orders = try store.read(length: .long, label: "report of the year") { try $0.first("SELECT count(*) FROM sales_order") }
        return orders
    }
}
