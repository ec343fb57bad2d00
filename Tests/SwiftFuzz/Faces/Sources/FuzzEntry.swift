private let fuzzed = Result { try FuzzedFaces() }

/// Runs one input; libFuzzer calls it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do { try fuzzed.get().run(Array(UnsafeBufferPointer(start: start, count: count))) } catch { fatalError("the faces failed: \(error)") }
    return 0
}
