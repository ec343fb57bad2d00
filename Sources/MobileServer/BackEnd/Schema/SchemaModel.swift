internal import Foundation
public import MobileModel
internal import MobileStore

/// A package model made from the tables of a back end: one object for each table with a primary key, to be completed by hand.
///
/// Objects have the singular of the table's name, attributes and relationships names in Swift's manner. A foreign key to a primary key becomes a relationship
/// of both objects: `order.customer` and `customer.orders`. A text column without a length in its declaration is a string, or large where a row has a value
/// of more than 8,191 characters.
public struct SchemaModel: Sendable {
    /// The model. It has neither synchronization parameters nor groups: each object loads its whole table.
    public let model: PackageModel
    /// The schemas, tables, views and references that the model leaves out, each with the reason.
    public let omissions: [String]
    /// The columns whose rows need another type than the declared one, which the attribute has.
    public let remarks: [String]

    /// Reads the tables of a back end.
    /// - Parameters:
    ///   - place: the path of an SQLite file, or the address of a PostgreSQL database, as in ``PackageDeployment/backEnds``.
    ///   - name: the name of the package.
    ///   - schemas: the schemas of a PostgreSQL database to read; default: those of the search path.
    /// - Throws: ``ServerError`` if the back end cannot be read.
    public init(of place: String, name: String, schemas: [String] = []) throws {
        let isAddress = PostgreSQLPlace.isAddress(place), timeout = ServerConfiguration.defaultConnectionTimeout
        let engine: any SQLEngine =
            isAddress
            ? try PostgreSQLEngine(name: "enterprise", address: place, timeout: timeout)
            : try SQLiteEngine(name: "enterprise", path: place, timeout: timeout)
        let found: DescribedTables
        do { found = try engine.describedTables(schemas: schemas) } catch {
            try? engine.close()
            throw ServerError(.missingBackEnd, "the tables of \(place) cannot be read: \(error)", cause: error)
        }
        try engine.close()
        let backEnd = BackEndModel(name: "enterprise", kind: isAddress ? .postgresql : .sqlite)
        var taken = found
        while true {
            var writer = SchemaModelWriter(taken, package: name, hasTimes: isAddress)
            let model = PackageModel(name: name, backEnds: [backEnd], objects: writer.objects())
            // As the file is read: that checks more than the model.
            do { if !model.objects.isEmpty { _ = try PackageModel(json: model.json) } } catch {
                if taken.leaveOut(error.problems, of: model) { continue }
            }
            (self.model, omissions, remarks) = (model, writer.omissions, writer.remarks)
            return
        }
    }
}
