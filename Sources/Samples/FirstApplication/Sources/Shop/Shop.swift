import MobileObjects
import MobileStore
import MobileSync

@main struct Shop {
    static func main() async throws {
        // An application, its server and its user. The port is the first argument, 5001 without one.
        let application = try Application(identifier: "shop", profile: ConnectionProfile(path: "application.db"))
        var properties = ConnectionProperties()
        (properties.serverName, properties.portNumber) = ("127.0.0.1", CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 5001)
        properties.loginCredentials = LoginCredentials(user: "sales", password: "offline-first")
        application.connectionProperties = properties
        try await application.register(timeout: .seconds(30))

        // The package's database on this device. The first synchronization brings all rows, a later one the changes.
        let records = try await Records.open(ConnectionProfile(path: "records-device.db"))
        records.application = application
        try await records.subscribe()
        try await records.synchronize()
        print("\(try await Album.findAll(in: records).count) albums are on the device")

        // From here on everything is local, with or without a network: queries, relationships, changes.
        for album in try await Album.where(\.price > 25).sorted(by: \.title).prefetching(\.artist).find(in: records) {
            print("  \(album.title) by \(album.artist?.name ?? "nobody"): \(album.price)")
        }

        // Rules of the model are checked at once.
        guard let album = try await Album.findByPrimaryKey(1, in: records) else { return print("there is no album 1") }
        album.price = -5
        do { try await album.save() } catch { print(error) }

        // A change waits on the device as a pending operation. This one is against a rule that only the back end knows.
        guard let customer = try await Customer.findByPrimaryKey(1, in: records) else { return print("there is no customer 1") }
        customer.email = "lars.holm@example.com"
        try await customer.save()
        try await customer.submitPending()
        try await records.synchronize()

        // A rejection is a result and no error: the change is still here, with the reason.
        try await customer.refresh()
        print("\(customer.name) is \(customer.state), the address \(customer.email ?? "none")")
        if let record = try await customer.logRecords().first { print("  \(record.code): \(record.message)") }

        // The repair: another value for the same change.
        customer.email = "aoife@example.com"
        try await customer.save()
        try await customer.submitPending()
        try await records.synchronize()
        try await customer.refresh()
        print("\(customer.name) is \(customer.state), the address \(customer.email ?? "none")")

        try await records.closeConnection()
        try await application.close()
    }
}
