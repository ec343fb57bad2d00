import MobileExecution
import MobileSync

/// Shows a synchronization on a terminal: first the bytes that arrive, then the rows that are imported, each with its rate and the time that is left.
final class SynchronizationBar: SynchronizationStatusListener {
    private struct Shown {
        var bar: ProgressBar
        var start = ContinuousClock.now
        var isImporting = false
    }

    private let label: String
    private let shown: SystemLock<Shown>

    init(_ label: String) {
        self.label = label
        shown = SystemLock(Shown(bar: ProgressBar(label + ", receive")))
    }

    func onSynchronizationStatusChange(_ info: inout SynchronizationStatusInfo) {
        shown.withLock { shown in
            // The time of one part says nothing about that of the other.
            if !shown.isImporting, info.rowsReceived > 0 { shown = Shown(bar: ProgressBar(label + ", import"), isImporting: true) }
            let elapsed = ContinuousClock.now - shown.start
            if shown.isImporting {
                let rate = Format.rate(info.rowsReceived, "rows", in: elapsed)
                let detail = "of \(Format.count(info.rowsExpected, "row")), \(Format.bytes(info.bytesReceived)), \(rate)"
                shown.bar.show(info.rowsReceived, of: info.rowsExpected, detail)
            } else {
                let received = Int(info.bytesReceived), rate = Format.byteRate(received, in: elapsed)
                let detail = "of \(Format.bytes(info.bytesExpected)), \(Format.count(info.rowsExpected, "row")), \(rate)"
                shown.bar.show(received, of: info.bytesExpected > 0 ? Int(info.bytesExpected) : nil, detail)
            }
        }
    }

    /// Removes the bar.
    func finish() { shown.withLock { _ = $0.bar.finish() } }
}
