/// The steps of a demonstration: from the first synchronization to two devices that agree.
protocol Demonstration {
    associatedtype Edits

    func startServer() throws
    func firstSynchronization() throws
    func readOffline() throws
    func editOffline() throws -> Edits
    func replay(_ edits: Edits) throws
    func killServerAndCompareDevices(_ edits: Edits) throws
    func summarize() throws
}

extension Demonstration {
    /// - Throws: ``DemoFailure`` if a promise is not kept, and the errors of the modules.
    func playAllSteps() throws {
        try startServer()
        try firstSynchronization()
        try readOffline()
        let edits = try editOffline()
        try replay(edits)
        try killServerAndCompareDevices(edits)
        try summarize()
    }
}
