import MobileCore
import MobileExecution
import Testing

/// The priority of short reads over long ones if all readers are in use, and its limit.
@Suite struct PriorityTests {
    /// Queues reads for the only reader in this order (long ones are capital letters), and returns the order in which they ran.
    private func order(of reads: String) throws -> String {
        let core = try CorePool { $0.readers = 1 }
        let order = SystemLock("")
        let reader = try core.checkOut(loose: true)
        var threads: [TestThread<Void>] = []
        for (number, name) in reads.enumerated() {
            threads.append(
                TestThread {
                    let connection = try core.checkOut(isLong: name.isUppercase)
                    order.withLock { $0.append(name) }
                    core.giveBack(connection)
                })
            core.until { $0.waiting_for_reader == number + 1 }
        }
        core.giveBack(reader)
        for thread in threads { try thread.value() }
        return order.withLock { $0 }
    }

    @Test(
        "a short read goes before the long ones that wait, and never before another short one",
        arguments: [
            ("ABcd", "cdAB"), ("aBcD", "acBD"), ("ABC", "ABC"), ("abc", "abc"), ("aAbBc", "abcAB"),
        ])
    func shortFirst(asked: String, served: String) throws { #expect(try order(of: asked) == served) }

    @Test func `a long read is overtaken 16 times at most`() throws {
        #expect(try order(of: "Zabcdefghijklmnopqrs") == "abcdefghijklmnopZqrs")
    }

    @Test func `a short read that waits without a thread goes first as well`() throws {
        let core = try CorePool { $0.readers = 1 }
        let reader = try core.checkOut(loose: true)
        let order = Order()
        for (name, isLong) in [("long", true), ("short", false)] {
            var checkout = mc_checkout(writer: false, is_long: isLong, loose: true, timeout_ns: Int64(MC_WAIT_FOREVER), label: nil, ticket: nil)
            mc_pool_checkout_later(core.pool, &checkout, Order.callback, order.context(name))
        }
        core.giveBack(reader)
        #expect(order.names == ["short"])
        core.giveBack(reader)
        #expect(order.names == ["short", "long"])
        core.giveBack(reader)
    }

    private final class Order {
        private final class Entry {
            let name: String, order: Order
            init(_ name: String, _ order: Order) { (self.name, self.order) = (name, order) }
        }
        var names: [String] = []

        func context(_ name: String) -> UnsafeMutableRawPointer { Unmanaged.passRetained(Entry(name, self)).toOpaque() }

        static let callback: mc_granted = { context, _, _ in
            let entry = Unmanaged<Entry>.fromOpaque(context!).takeRetainedValue()
            entry.order.names.append(entry.name)
        }
    }
}
