internal import MobileStore
public import MobileTransport
public import RhoConnectClient

/// The store application of the RhoConnect documents: a client with its models. It is the documents' `RhoConnectEngine`, without a global instance.
public final class StoreApplication: Sendable {
    /// The local database.
    public let database: RhomDatabase
    /// The client.
    public let client: RhoConnectClient
    /// The model of customers.
    public let customer: RhomModel
    /// The model of products.
    public let product: RhomModel
    /// The model of orders, which refer to a customer and a product.
    public let order: RhomModel

    /// Opens the database, and names the models and the server.
    /// - Parameters:
    ///   - path: the file of the local database.
    ///   - server: the URL of the server, such as `http://localhost:9292/`.
    ///   - transport: the network; default HTTP.
    ///   - settings: the client's settings; the defaults.
    /// - Throws: `RhoConnectError`.
    public init(
        path: String, server: String, transport: any Transport = HTTPTransport(), settings: RhoConnectClient.Settings = .init()
    ) throws {
        database = try RhoConnectClient.initDatabase(ConnectionProfile(path: path))
        client = RhoConnectClient(database, transport: transport, settings: settings)
        // The objects of the package do not depend on the user.
        customer = RhomModel("Customer", partition: .app)
        product = RhomModel("Product", partition: .app)
        order = RhomModel("Order", associations: ["customer": "Customer", "product": "Product"], partition: .app)
        try client.addModels([customer, product, order])
        try client.setSyncServer(server)
    }
}
