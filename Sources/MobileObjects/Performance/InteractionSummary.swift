public import Foundation

/// The cost of a user's interaction with the application, summed up per type of interval.
public struct InteractionSummary: Sendable, Hashable {
    /// The name from the start of the interaction.
    public let name: String
    /// The time of the start.
    public let started: Date
    /// The time from start to stop, by the clock on the wall.
    public let duration: Duration
    /// The sums by type, for the types that had intervals.
    public let sums: [IntervalType: IntervalSum]

    /// The summary as text: a line per type, in their documented order, then the totals.
    public var text: String {
        var lines = ["Interaction: \(name)", "Started: \(ISO8601Text.text(started))", "Duration: \(Self.seconds(duration))", ""]
        var total = IntervalSum()
        for type in IntervalType.allCases {
            guard let sum = sums[type] else { continue }
            lines.append(Self.line(type.rawValue, sum))
            total.add(sum)
        }
        lines.append(Self.line("Total", total))
        return lines.joined(separator: "\n") + "\n"
    }

    private static func line(_ title: String, _ sum: IntervalSum) -> String {
        var parts = [
            "Intervals \(sum.count)", "Wallclock Time \(seconds(sum.wallClockTime))", "CPU Time \(seconds(sum.cpuTime))",
            "Memory Max \(sum.maximumMemory)",
        ]
        if let network = sum.network {
            parts += [
                "NetworkTime \(seconds(network.networkTime))", "Roundtrips \(network.roundTrips)", "Total Bytes \(network.totalBytes)",
                "Sent Bytes \(network.sentBytes)", "Received Bytes \(network.receivedBytes)",
            ]
        }
        return title + ": " + parts.joined(separator: ", ")
    }

    /// Returns seconds with six places: `0.001500 s`.
    private static func seconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let fraction = String(attoseconds / 1_000_000_000_000)
        return "\(seconds).\(String(repeating: "0", count: 6 - fraction.count))\(fraction) s"
    }
}

extension IntervalSum {
    mutating func add(_ other: IntervalSum) {
        count += other.count
        wallClockTime += other.wallClockTime
        cpuTime += other.cpuTime
        maximumMemory = max(maximumMemory, other.maximumMemory)
        guard let added = other.network else { return }
        var sum = network ?? NetworkSum()
        sum += added
        network = sum
    }
}
