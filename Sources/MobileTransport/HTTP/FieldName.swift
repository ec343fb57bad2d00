extension String {
    /// Whether two names of header fields are the same: letters of ASCII count in either case. Allocates nothing.
    package func isField(_ name: String) -> Bool {
        utf8.count == name.utf8.count && utf8.elementsEqual(name.utf8) { $0.asciiLowercase == $1.asciiLowercase }
    }
}

extension UInt8 {
    fileprivate var asciiLowercase: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self }
}
