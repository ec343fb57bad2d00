import CLibFuzzer
import Foundation

/// The server of this process; the fuzzer calls from one thread.
nonisolated(unsafe) private var fuzzed: FuzzedServer?

/// Runs one input; libFuzzer calls it.
/// - Returns: -1 for an input that is not a request, so that it is not kept.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeBufferPointer(start: start, count: count)
    guard let input = FuzzInput(bytes) else { return -1 }
    do {
        let server =
            try fuzzed
            ?? FuzzedServer(
                folder: folder("SERVER_FUZZ_FOLDER") ?? FileManager.default.temporaryDirectory.appendingPathComponent("server-fuzz"),
                postgreSQL: folder("SERVER_FUZZ_POSTGRESQL").map { FuzzedDatabase(socketFolder: $0.path) }, lifeFolder: folder("SERVER_FUZZ_LIFE"))
        fuzzed = server
        try server.take(input, bytes)
    } catch {
        fatalError("the fuzzed server cannot work: \(error)")
    }
    return 0
}

/// Changes an input; libFuzzer calls it. Half of the mutations change parts of a request.
@_cdecl("LLVMFuzzerCustomMutator")
public func fuzzMutator(_ start: UnsafeMutablePointer<UInt8>, _ count: Int, _ maximum: Int, _ seed: CUnsignedInt) -> Int {
    var mutation = FuzzMutation(seed: UInt64(seed))
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard seed % 2 == 0, let changed = mutation.changed(input), changed.count <= maximum else { return LLVMFuzzerMutate(start, count, maximum) }
    _ = UnsafeMutableBufferPointer(start: start, count: maximum).update(fromContentsOf: changed)
    return changed.count
}

/// Returns the folder in a variable of the environment.
private func folder(_ variable: String) -> URL? {
    guard let path = ProcessInfo.processInfo.environment[variable], !path.isEmpty else { return nil }
    return URL(fileURLWithPath: path)
}
