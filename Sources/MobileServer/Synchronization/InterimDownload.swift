internal import MobileProtocol

extension InterimAnswer {
    /// The beginning of a download while the server still replays, refreshes and makes segments: frames `W`.
    static func download(every interval: Duration = .seconds(15)) -> InterimAnswer {
        InterimAnswer(
            interval: interval, headers: [("X-Accel-Buffering", "no")], contentType: Endpoint.frameContentType, beat: bytes(of: .wait)
        ) { response in
            var known: ProtocolFailure?
            if case .bytes(let bytes) = response.body { known = try? ProtocolFailure(parsing: bytes) }
            return bytes(of: .failure(known ?? ProtocolFailure(code: Int64(response.status), message: "the server could not do this")))
        }
    }

    private static func bytes(of frame: FrameContent) -> [UInt8] {
        var writer = FrameWriter(.download)
        // A frame without content, or with one that has been read from its own text, is always written.
        try? writer.write(frame)
        return writer.take()
    }
}
