import MobileStore

/// Changes parts of requests: members of JSON objects, whole frames. Byte mutations of libFuzzer mostly end in the parser; these get
/// further, because afterwards ids are made to grow and lengths to match the data.
struct FuzzMutation {
    private var random: FuzzRandom

    init(seed: UInt64) { random = FuzzRandom(state: seed) }

    /// Values of hostile requests, and some of honest ones.
    private static let values: [JSONValue] =
        [
            .null, .boolean(true), .array([]), .object([:]), .string(""), .string("\u{0}"), .string("é\u{301}\u{202E}"), .string("NORTH"),
            .string("SOUTH"),
            .string("2026-02-30"), .string("23:59:60"), .string("2026-02-28T00:00:00Z"), .string("AQI="), .string("'\";--"), .string("TUESDAY"),
            .string(String(repeating: "x", count: 2000)),
        ]
        + [-1, 0, 1, 2, 7, 8, 9, 127, 128, 32_768, 1 << 31, 1 << 53, .max - 1, .max, .min].map { .integer($0) }
        + ["1e308", "1e400", "-0.0", "0.001", "12345678901234567890.0123456789", "99999999999999999999999999999999999999", "9223372036854775808"].map
    {
        .number($0)
    }

    /// Returns the request with one change; nil when it has no such parts.
    mutating func changed(_ input: [UInt8]) -> [UInt8]? {
        switch input.first {
        case UInt8(ascii: "m"):
            guard var json = try? JSONValue(parsing: Array(input.dropFirst())) else { return nil }
            change(&json, depth: 0)
            return [UInt8(ascii: "m")] + json.bytes
        case UInt8(ascii: "f"):
            var lines = input.dropFirst().split(separator: UInt8(ascii: "\n")).map { Array($0) }
            guard !lines.isEmpty else { return nil }
            change(&lines)
            if random.chance(8) == 0 { return [UInt8(ascii: "f")] + lines.joined(separator: [UInt8(ascii: "\n")]) }
            return [UInt8(ascii: "f")] + Self.mended(lines).joined(separator: [UInt8(ascii: "\n")])
        default: return nil
        }
    }

    private mutating func change(_ lines: inout [[UInt8]]) {
        let index = random.chance(lines.count)
        switch random.chance(8) {
        case 0 where lines.count > 2: lines.remove(at: index)
        case 1 where lines.count < 60: lines.insert(lines[index], at: random.chance(lines.count))
        case 2: lines.swapAt(index, random.chance(lines.count))
        default:
            guard let letter = lines[index].first, var json = try? JSONValue(parsing: Array(lines[index].dropFirst())) else { return }
            change(&json, depth: 0)
            lines[index] = [letter] + json.bytes
        }
    }

    /// Changes the value itself or, more often, one inside of it.
    private mutating func change(_ json: inout JSONValue, depth: Int) {
        switch json {
        case .object(var object) where !object.isEmpty && (depth == 0 || random.chance(5) > 0):
            let keys = Array(object.keys), key = keys[random.chance(keys.count)]
            switch random.chance(10) {
            case 0: object[key] = nil
            case 1: object[keys[random.chance(keys.count)]] = object[key]
            default:
                var value = object[key] ?? .null
                change(&value, depth: depth + 1)
                object[key] = value
            }
            json = .object(object)
        case .array(var array) where !array.isEmpty && random.chance(5) > 0:
            let index = random.chance(array.count)
            switch random.chance(8) {
            case 0: array.remove(at: index)
            case 1 where array.count < 100: array.append(array[index])
            default: change(&array[index], depth: depth + 1)
            }
            json = .array(array)
        case .integer(let value) where random.chance(2) == 0: json = .integer(value &+ Int64(random.chance(5)) &- 2)
        default: json = Self.values[random.chance(Self.values.count)]
        }
    }

    // MARK: Mending

    /// Returns the frames with growing ids, with large values that refer to the operation before them, and with the lengths of their data.
    private static func mended(_ lines: [[UInt8]]) -> [[UInt8]] {
        var lines = lines, last: Int64 = 0, batch: Int64 = 0
        for index in lines.indices {
            guard let letter = lines[index].first, var object = try? JSONValue(parsing: Array(lines[index].dropFirst())).object else { continue }
            switch letter {
            case UInt8(ascii: "O"):
                let id = max(object["id"]?.integer ?? 0, last == .max ? last : last + 1)
                object["id"] = .integer(id)
                if let given = object["batch"]?.integer {
                    if given != batch, given <= last || given > id { object["batch"] = .integer(id) }
                    batch = object["batch"]?.integer ?? id
                } else {
                    batch = id
                }
                last = id
            case UInt8(ascii: "V"):
                let end = lines[index...].dropFirst().firstIndex { $0.first != UInt8(ascii: "D") } ?? lines.endIndex
                let length = lines[index + 1..<end].reduce(0) { $0 + dataLength($1) }
                object["operation"] = .integer(last)
                if object["length"] != .null { object["length"] = .integer(length) }
                if end < lines.endIndex { lines[end] = Array("E{\"bytes\":\(length)}".utf8) }
            default: continue
            }
            lines[index] = [letter] + JSONValue.object(object).bytes
        }
        return lines
    }

    private static func dataLength(_ line: [UInt8]) -> Int64 { Int64(FuzzInput.payload(of: line).count) }
}

/// Random numbers from a seed.
struct FuzzRandom {
    var state: UInt64

    /// Returns a number from 0 to `count - 1`.
    mutating func chance(_ count: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(max(1, count)))
    }
}
