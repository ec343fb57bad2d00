internal import MobileStore

/// The body of an upload.
enum UploadBody {
    /// Writes the changes as JSON; every value is a string.
    /// - Parameter blobs: the attributes whose files are sent as well.
    static func json(_ batch: UploadBatch, source: String, client: String, blobs: [String] = []) throws(StoreError) -> [UInt8] {
        var writer = try JSONWriter()
        try writer.object { writer throws(StoreError) in
            try writer.member("source_name", .string(source))
            try writer.member("client_id", .string(client))
            try write(batch.creates, "create", to: &writer)
            try write(batch.updates, "update", to: &writer)
            try write(batch.deletes, "delete", to: &writer)
            if !blobs.isEmpty { try writer.member("blob_fields", .array(blobs.map { .string($0) })) }
        }
        return try writer.finish()
    }

    private static func write(_ changes: [UploadBatch.Change], _ key: String, to writer: inout JSONWriter) throws(StoreError) {
        guard !changes.isEmpty else { return }
        try writer.key(key)
        try writer.object { writer throws(StoreError) in
            for change in changes {
                try writer.key(change.object)
                try writer.object { writer throws(StoreError) in
                    for (name, value) in change.attributes.sorted(by: { $0.key < $1.key }) { try writer.member(name, .string(value)) }
                }
            }
        }
    }
}
