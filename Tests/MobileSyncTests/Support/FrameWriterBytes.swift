import MobileProtocol
import MobileStore

/// Downloads that no honest server makes.
enum FrameWriterBytes {
    /// Makes a download of one group with one table part of these rows.
    static func download(group: String = "default", object: String, rows: String, columns: [String]) throws -> [UInt8] {
        var writer = FrameWriter(.download)
        try writer.write(.answer(SynchronizeAnswer(package: "CRM:1.0", groups: [group])))
        try writer.write(.table(TablePart(object: object, columns: columns, compression: .none)))
        try writer.write(.data(Array(rows.utf8)))
        try writer.write(.partEnd(.rows(1)))
        try writer.write(.groupEnd(GroupEnd(group: group, token: Token([:]))))
        try writer.write(.streamEnd)
        return writer.take()
    }
}
