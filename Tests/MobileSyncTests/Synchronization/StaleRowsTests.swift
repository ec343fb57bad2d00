import MobileObjects
import MobileStore
import MobileSync
import SampleCRM
import Testing

/// Rows whose present versions the server holds back: the device knows that its versions are earlier ones.
@Suite struct StaleRowsTests {
    @Test func `a device knows the rows that are held back, until they fit again`() throws {
        let bench = try TestBench(), device = try bench.synchronizedDevice()
        #expect(try device.crm.staleRows.isEmpty)
        let ids = try bench.rows("SELECT id FROM customer WHERE region = 'NORTH' ORDER BY id LIMIT 2").compactMap { $0[0].integer }
        let keys = try ids.map { try #require(try Customer.findByPrimaryKey($0, in: device.crm)).surrogateKey }
        func name(_ position: Int) throws -> String? { try Customer.findByPrimaryKey(ids[position], in: device.crm)?.name }

        try bench.change("UPDATE customer SET since = 'some day' WHERE id = ?", [.integer(ids[0])])
        try bench.change("UPDATE customer SET name = 'Longer' WHERE id = ?", [.integer(ids[1])])
        try device.crm.synchronize()
        #expect(try device.crm.staleRows == ["Customer": [keys[0]]] && name(1) == "Longer")
        // A synchronization without news changes nothing about it.
        try device.crm.synchronize()
        #expect(try device.crm.staleRows == ["Customer": [keys[0]]])

        try bench.change("UPDATE customer SET since = '2024-02-29', name = 'Fits' WHERE id = ?", [.integer(ids[0])])
        try device.crm.synchronize()
        #expect(try device.crm.staleRows.isEmpty && name(0) == "Fits")

        try bench.change("UPDATE customer SET since = 'some day' WHERE id = ?", [.integer(ids[0])])
        try device.crm.synchronize()
        #expect(try !device.crm.staleRows.isEmpty)
        try device.crm.unsubscribe()
        #expect(try device.crm.staleRows.isEmpty)
    }
}
