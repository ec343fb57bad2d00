/// What runs pieces of work one after the other, in the order in which they came: a thread (``SerialQueue``), or a test that goes from one
/// step to the next.
protocol SerialWork: Sendable {
    /// Whether the caller is such a piece of work: waiting for the others would then never end.
    var isCurrent: Bool { get }
    /// Puts `work` behind what is there already. Never runs it before it returns, so that it may be called with a lock held.
    func run(_ work: @escaping @Sendable () -> Void)
    /// Waits until everything that was there before is done; never from a piece of work itself.
    func sync(_ work: () -> Void)
    /// Runs `work` as one of the pieces after `delay`, unless the timer is cancelled before.
    func run(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> WorkTimer
    /// Like ``run(after:_:)``, but beside the others: `work` must be quick, and runs even while they are busy.
    func timer(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> WorkTimer
}
