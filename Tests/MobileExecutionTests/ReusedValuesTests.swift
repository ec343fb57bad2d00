import MobileExecution
import Testing

@Suite struct ReusedValuesTests {
    @Test func `a value that was given back is used again, as it is, and none is used twice at a time`() {
        let made = SystemLock(0)
        let values = ReusedValues {
            made.withLock { $0 += 1 }
            return [Int]()
        }
        let first = values.take(), second = values.take()
        #expect(first !== second && made.withLock { $0 } == 2)
        first.withLock { $0 = [1, 2] }
        values.giveBack(first)
        #expect(values.take() === first && first.withLock { $0 } == [1, 2])
        #expect(values.take() !== second && made.withLock { $0 } == 3)
    }
}
