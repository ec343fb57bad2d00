internal import Foundation
internal import MobileStore
internal import MobileTransport

/// The files of an upload: values of BLOB attributes in new and changed objects.
struct BlobUpload {
    /// One file with the name of its part.
    private struct File {
        let part: String
        let path: String
    }

    private var files: [File] = []
    /// The attributes that are files.
    private(set) var fields: [String] = []

    /// - Parameters:
    ///   - names: the attributes that are files.
    ///   - folder: the folder of relative paths.
    init(_ batch: UploadBatch, names: Set<String>, folder: String) {
        var used: Set<String> = []
        for change in batch.creates + batch.updates {
            for (name, value) in change.attributes.sorted(by: { $0.key < $1.key }) where names.contains(name) && !value.isEmpty {
                // A value that is an address is a file that the server has already.
                guard !value.contains("://") else { continue }
                files.append(File(part: "\(name)-\(change.object)", path: BlobFolder.path(of: value, in: folder)))
                used.insert(name)
            }
        }
        fields = used.sorted()
    }

    var isEmpty: Bool { files.isEmpty }

    /// Makes the body: the files, and the JSON in the last part. Files are read while they are sent.
    /// - Throws: ``RhoConnectErrorCode/runtime`` for a file that cannot be read.
    func multipart(_ json: [UInt8]) throws -> (contentType: String, body: TransportRequest.Body) {
        let boundary = "rho\(UInt64.random(in: .min ... .max))\(UInt64.random(in: .min ... .max))"
        var pieces: [MultipartPiece] = []
        for file in files {
            let name = String(file.path.split(separator: "/").last ?? "file").quotedParameter
            pieces.append(
                .bytes(
                    [UInt8](
                        """
                        --\(boundary)\r\nContent-Disposition: form-data; name="\(file.part.quotedParameter)"; filename="\(name)"\r\n\
                        Content-Type: application/octet-stream\r\n\r\n
                        """.utf8)))
            guard let size = try? FileManager.default.attributesOfItem(atPath: file.path)[.size] as? NSNumber else {
                throw RhoConnectError(.runtime, "upload: the file \(file.path) of the part \(file.part) cannot be read")
            }
            pieces += [.file(file.path, size.intValue), .bytes([UInt8]("\r\n".utf8))]
        }
        let head = "--\(boundary)\r\nContent-Disposition: form-data; name=\"cud\"\r\nContent-Type: application/json\r\n\r\n"
        pieces.append(.bytes([UInt8](head.utf8) + json + [UInt8]("\r\n--\(boundary)--\r\n".utf8)))
        let source = MultipartSource(pieces)
        return ("multipart/form-data; boundary=\(boundary)", .stream(length: source.length, next: { try source.next() }))
    }
}

/// A part of a multipart body.
private enum MultipartPiece {
    case bytes([UInt8])
    case file(String, Int)
}

/// Produces a multipart body piece by piece.
private final class MultipartSource {
    private var pieces: [MultipartPiece]
    private var open: (handle: FileHandle, left: Int)?
    let length: Int

    init(_ pieces: [MultipartPiece]) {
        self.pieces = pieces
        length = pieces.reduce(0) { sum, piece in
            switch piece {
            case .bytes(let bytes): sum + bytes.count
            case .file(_, let size): sum + size
            }
        }
    }

    func next() throws -> [UInt8]? {
        if let (handle, left) = open {
            guard left > 0, let data = try handle.read(upToCount: min(65_536, left)), !data.isEmpty else {
                try handle.close()
                open = nil
                return try next()
            }
            open = (handle, left - data.count)
            return [UInt8](data)
        }
        guard !pieces.isEmpty else { return nil }
        switch pieces.removeFirst() {
        case .bytes(let bytes): return bytes
        case .file(let path, let size):
            guard let handle = FileHandle(forReadingAtPath: path) else { throw RhoConnectError(.runtime, "upload: the file \(path) cannot be read") }
            open = (handle, size)
            return try next()
        }
    }
}

extension String {
    /// The text inside of quotes in a header field of a part.
    fileprivate var quotedParameter: String {
        var text = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"": text += "%22"
            case "\r": text += "%0D"
            case "\n": text += "%0A"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}

/// The folder of files.
enum BlobFolder {
    /// The path of a stored value: relative to the folder, unless it begins with a slash.
    static func path(of value: String, in folder: String) -> String { value.hasPrefix("/") ? value : folder + value }

    /// A new name for the file of a URL. The extension is that of the query's parameter `extension`, of the path's last part, or `bin`.
    static func newName(for url: String) -> String {
        let rest = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
        let parts = rest.prefix { $0 != "#" }.split(separator: "?", maxSplits: 1)
        let parameter = parts.dropFirst().first?.split(separator: "&").first { $0.hasPrefix("extension=") }?.dropFirst("extension=".count)
        let path = (parts.first ?? "").split(separator: "/", omittingEmptySubsequences: false)
        let last = path.count > 1 ? path.last ?? "" : ""
        var ending = String(parameter ?? (last.contains(".") ? last.split(separator: ".").last ?? "" : ""))
        if ending.hasPrefix("%2E") { ending.removeFirst(3) }
        // Letters and digits alone: the text comes from outside, and must not lead out of the folder.
        let clean = String(
            (ending.hasPrefix(".") ? ending.dropFirst() : ending[...]).prefix(16).filter { $0.isASCII && ($0.isLetter || $0.isNumber) })
        return
            "\(String(UInt64.random(in: .min ... .max), radix: 36))\(String(UInt64.random(in: .min ... .max), radix: 36)).\(clean.isEmpty ? "bin" : clean)"
    }
}
