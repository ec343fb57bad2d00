@_spi(GeneratedCode) import MobileObjects
import MobileStore

/// The large attribute `picture` of products.
extension Shop {
    /// Imports a value; nil is NULL.
    func importPicture(_ bytes: [UInt8]?, key: Int64) throws {
        let value = try bytes.map { bytes in
            let writer = try LargeValueWriter(in: database.store, unit: .bytes)
            try writer.write(bytes)
            return try writer.finish()
        }
        try database.write("import") { transaction in
            try transaction.importSession(for: "Product").setLargeValue(value, of: "picture", key: key)
        }
    }

    /// Returns the first thousand bytes of an object's current picture; nil for NULL.
    func picture(of product: GenericEntity) throws -> [UInt8]? {
        let picture = product.bigBinary(4)
        guard try picture.length != nil else { return nil }
        try picture.openForRead()
        defer { try? picture.close() }
        return try picture.read(1000) ?? []
    }

    /// Writes a new picture for an object that is not saved with it yet.
    func write(picture bytes: [UInt8], to product: GenericEntity) throws {
        let picture = product.bigBinary(4)
        try picture.openForWrite(Int64(bytes.count))
        try picture.write(bytes)
        try picture.close()
    }
}
