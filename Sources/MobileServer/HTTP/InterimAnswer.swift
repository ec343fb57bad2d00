/// The beginning of the answer to a request whose work takes long, so that client and proxies do not take the connection for dead.
///
///     answering --answer--> the answer
///        |
///        +-- for `interval` --> the interim head, beat, beat, ... --answer--> its body, or its failure as the rest of the body
///
/// From then on, the status is that of a success: a failure has to travel in the body.
struct InterimAnswer: Sendable {
    /// The time before the answer begins, and between two beats.
    let interval: Duration
    let headers: [(name: String, value: String)]
    let contentType: String
    let beat: [UInt8]
    /// Returns the rest of the body for a response with an error status, or without a stream.
    let failure: @Sendable (ServerResponse) -> [UInt8]
}
