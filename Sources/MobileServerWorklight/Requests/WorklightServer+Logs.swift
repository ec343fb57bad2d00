internal import MobileServer
internal import MobileStore

/// Logs of devices, and activities of users.
extension WorklightServer {
    func takeActivity(
        _ request: WireRequest, _ application: WorklightApplication, _ environment: String, _ session: SessionStore.Session
    ) throws -> Answer {
        guard let activity = request.fields.text("activity") else { return .failure(400, "there is no activity") }
        let content = session.content
        try state.write(label: "activity") {
            try $0.execute(
                """
                INSERT INTO _wl_activity (application, environment, version, owner, device, activity, happened) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                """,
                [
                    .text(application.id), .text(environment), .text(String(request.version.prefix(80))), .text(content.owner), .text(content.device),
                    .text(String(activity.prefix(1000)).replacing("\0", with: "")), .integer(clock()),
                ])
        }
        return .json([:])
    }

    /// Takes an uploaded log: entries, each followed by a comma. Broken entries are left out.
    func takeLog(_ request: WireRequest) throws -> Answer {
        guard request.method == "POST" else { return .failure(405, "use POST") }
        var bytes = request.body
        if request.headers["content-encoding"]?.lowercased() == "gzip" {
            guard let inflated = try? Gzip.inflate(bytes, maximumLength: configuration.maximumBody) else {
                return .failure(400, "the log cannot be decompressed")
            }
            bytes = inflated
        }
        guard let document = try? JSONDocument(parsing: bytes, duplicateKeys: .lastWins), let data = document.root["__logdata"].string else {
            return .failure(400, "the log is not a JSON object with __logdata")
        }
        func field(_ name: String) -> String { String((request.header("x-wl-clientlog-" + name) ?? "").prefix(256)) }
        let device: JSONObject = [
            "deviceId": .string(field("deviceid")), "appName": .string(field("appname")), "appVersion": .string(field("appversion")),
            "osVersion": .string(field("osversion")), "environment": .string(field("env")), "model": .string(field("model")),
        ]
        let entries = LogEntries.split(data)
        // The application's own procedure comes first, as in later servers.
        if let procedure = procedure("WLClientLogReceiver", "log") {
            _ = try procedure.run(WorklightInvocation([.object(device), .array(entries)], [:]))
        }
        try administration.keep(entries, device)
        return Answer(status: 201, body: .none)
    }

    /// Takes a log from the procedure that versions before 6.2 call.
    func takeAdapterLog(_ parameters: [JSONValue], _ session: SessionStore.Session) throws -> Answer {
        guard parameters.count == 2, let device = parameters[0].object else {
            return .json(["isSuccessful": false, "errors": ["expected the device and its entries"], "warnings": [], "info": []])
        }
        // Entries come as an array, or as its text.
        let entries = parameters[1].array ?? parameters[1].string.map { LogEntries.split($0) } ?? []
        try administration.keep(entries.filter { $0.object != nil }, device)
        return .json(["isSuccessful": true])
    }
}

/// The entries of a log in the form of a file.
enum LogEntries {
    /// Splits entries that follow each other with commas. If the whole is damaged, the parts that are whole are kept.
    static func split(_ text: String) -> [JSONValue] {
        let list = text.reversed().drop { $0.isWhitespace || $0 == "," }.reversed()
        if let document = try? JSONDocument(parsing: Array("[\(String(list))]".utf8), duplicateKeys: .lastWins),
            let entries = JSONValue(lastMembersOf: document.root).array
        {
            return entries.filter { $0.object != nil }
        }
        return pieces(Array(text.utf8)).compactMap { whole(in: $0) }
    }

    /// Returns the entry of a part; damaged ones may precede it. A few attempts are enough, because each reads the rest of the part.
    private static func whole(in piece: [UInt8]) -> JSONValue? {
        var start = piece.startIndex
        for _ in 0..<16 {
            if let document = try? JSONDocument(parsing: Array(piece[start...]), duplicateKeys: .lastWins), document.root.isObject {
                return JSONValue(lastMembersOf: document.root)
            }
            let next = piece.indices.dropFirst(start + 1).first { piece[$0] == UInt8(ascii: "{") && piece[$0 - 1] == UInt8(ascii: ",") }
            guard let next else { return nil }
            start = next
        }
        return nil
    }

    /// The parts between `},{`, with their braces. A text may contain these characters: its parts are damaged then, and left out.
    private static func pieces(_ bytes: [UInt8]) -> [[UInt8]] {
        var pieces: [[UInt8]] = [], current: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            let isBorder =
                byte == UInt8(ascii: ",") && current.last == UInt8(ascii: "}") && (index + 1 == bytes.count || bytes[index + 1] == UInt8(ascii: "{"))
            if isBorder {
                pieces.append(current)
                current = []
            } else {
                current.append(byte)
            }
        }
        return current.isEmpty ? pieces : pieces + [current]
    }
}
