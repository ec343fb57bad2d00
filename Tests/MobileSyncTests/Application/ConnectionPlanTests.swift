import MobileExecution
import Testing

@testable import MobileSync

/// The transitions of an application's requested state; `InterleavingTests` tests them with callers and a server.
@Suite struct ConnectionPlanTests {
    var plan = ConnectionPlan()

    /// Returns the wish of an answer, and whether the caller begins it.
    func wish(_ answer: ConnectionPlan.Answer) -> (wish: ConnectionPlan.Wish, begins: Bool)? {
        switch answer {
        case .begin(let wish): (wish, true)
        case .join(let wish): (wish, false)
        case .done: nil
        }
    }

    @Test mutating func `the second caller joins the first`() throws {
        let firstAnswer = plan.start(isConnected: false)
        let first = try #require(wish(firstAnswer))
        let secondAnswer = plan.start(isConnected: false)
        let second = try #require(wish(secondAnswer))
        #expect(first.begins && !second.begins && first.wish.outcome === second.wish.outcome)
        plan.end(first.wish)
        let standing = plan.start(isConnected: true)
        #expect(wish(standing)?.begins == nil)
    }

    @Test mutating func `who waits for a connection is told when the registration that came in between has ended`() throws {
        let startAnswer = plan.start(isConnected: false)
        let start = try #require(wish(startAnswer))
        let registrationAnswer = plan.register()
        let registration = try #require(wish(registrationAnswer))
        #expect(registration.begins && plan.isRegistering)
        let hasTurn = plan.begin(start.wish)
        #expect(!hasTurn, "only the registration has a turn")
        let joinedAnswer = plan.start(isConnected: false)
        let joined = try #require(wish(joinedAnswer))
        #expect(!joined.begins && joined.wish.outcome === registration.wish.outcome)
        registration.wish.outcome.resolve(.success(()))
        #expect(start.wish.outcome.result != nil)
    }

    @Test mutating func `a wish that was taken back gets neither a turn nor a timer`() throws {
        let startAnswer = plan.start(isConnected: false)
        let start = try #require(wish(startAnswer))
        let ended = plan.stop()
        #expect(ended?.outcome === start.wish.outcome)
        let hasTurn = plan.begin(start.wish)
        #expect(!hasTurn)
        plan.wait(start.wish, isOrdered: false) { _ in
            Issue.record("a timer for nobody")
            return WorkTimer()
        }
        let hurried = plan.hurry()
        #expect(hurried.map(\.kind) == nil)
    }

    @Test mutating func `a connection that is about to be stopped does not stand in the way of a start`() throws {
        _ = plan.stop()
        let startAnswer = plan.start(isConnected: true)
        let start = try #require(wish(startAnswer))
        #expect(start.begins)
        plan.disconnected()
        let hasTurn = plan.begin(start.wish)
        #expect(hasTurn)
    }

    @Test mutating func `failures are counted per wish, and its timer fires once`() throws {
        let startAnswer = plan.start(isConnected: false)
        let start = try #require(wish(startAnswer))
        let timer = WorkTimer()
        var counted: [Int] = []
        for _ in 0..<3 {
            plan.wait(start.wish, isOrdered: false) { failures in
                counted.append(failures)
                return timer
            }
        }
        #expect(counted == [0, 1, 2])
        let hurried = plan.hurry(), again = plan.hurry()
        #expect(hurried?.outcome === start.wish.outcome && again.map(\.kind) == nil && !timer.fire())
    }

    @Test mutating func `nobody hurries a wish whose time the server has set`() throws {
        let startAnswer = plan.start(isConnected: false)
        let start = try #require(wish(startAnswer))
        plan.wait(start.wish, isOrdered: true) { _ in WorkTimer() }
        let hurried = plan.hurry(), joined = plan.start(isConnected: false)
        #expect(hurried.map(\.kind) == nil && wish(joined)?.begins == false)
        let hasTurn = plan.begin(start.wish)
        #expect(hasTurn, "its time has come")
    }

    @Test mutating func `a registration is either used or given back`() throws {
        let began = plan.beginSynchronization()
        guard case .refused = plan.unregister() else {
            Issue.record("unregistered while it is used")
            return
        }
        plan.endSynchronization()
        guard case .begin(let outcome, _) = plan.unregister(), case .join(let joined) = plan.unregister() else {
            Issue.record("not unregistered although nobody uses it")
            return
        }
        let refused = !plan.beginSynchronization()
        #expect(began && refused && plan.isUnregistering && outcome === joined)
        plan.endUnregistration()
        let beganAgain = plan.beginSynchronization()
        #expect(beganAgain)
    }
}
