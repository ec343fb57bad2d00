import MobileStore
extension Connection {
    func prepareLargeValues() throws {}
    func removeLargeValue(_ id: Int64) throws {}
    var path: String { "" }
}
