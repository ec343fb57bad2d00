/// Finds the known word nearest to a misspelt one.
enum Suggestion {
    /// `did you mean "SalesOrder"?`; nil if no word is near enough.
    static func didYouMean(_ word: String, among words: [String]) -> String? {
        let limit = max(1, word.count / 3)
        let nearest =
            words.map { (word: $0, distance: distance(word.lowercased(), $0.lowercased())) }
            .filter { $0.distance <= limit }
            .min { $0.distance < $1.distance }
        return nearest.map { "did you mean \"\($0.word)\"?" }
    }

    /// The number of letters to insert, remove, replace or swap with their neighbour to turn `from` into `to`.
    static func distance(_ from: String, _ to: String) -> Int {
        let (from, to) = (Array(from.unicodeScalars), Array(to.unicodeScalars))
        var beforeLast: [Int] = []
        var last = Array(0...to.count)
        for row in 0..<from.count {
            var current = [row + 1]
            for column in 0..<to.count {
                var best = min(last[column] + (from[row] == to[column] ? 0 : 1), last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, from[row] == to[column - 1], from[row - 1] == to[column] {
                    best = min(best, beforeLast[column - 1] + 1)
                }
                current.append(best)
            }
            (beforeLast, last) = (last, current)
        }
        return last[to.count]
    }
}
