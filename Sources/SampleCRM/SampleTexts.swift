/// A small generator of numbers (SplitMix64): the same seed gives the same numbers on every machine.
struct SampleNumbers {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

/// Texts with many kinds of Unicode: several scripts, right to left, combining marks, emoji of many scalars, text outside of the basic
/// plane, and the characters that JSON must escape.
struct SampleTexts {
    private var numbers: SampleNumbers

    init(seed: UInt64) { numbers = SampleNumbers(seed: seed) }

    private static let sentences = [
        "Prefers deliveries before noon; the ramp is behind the building.",
        "Smørrebrød, crème brûlée, jalapeños, żurek, Äpfel und Öl.",
        "Zahlt pünktlich – fast immer innerhalb von 8 Tagen („Skonto“).",
        "Позвонить в понедельник, спросить про новый каталог.",
        "Να σταλεί ο νέος τιμοκατάλογος πριν από το Πάσχα.",
        "次回の訪問は来週の火曜日です。新しいカタログを持参。",
        "고객은 훈제 연어를 특히 좋아합니다.",
        "يفضل العميل التسليم صباحا.",
        "הלקוח מבקש חשבונית נפרדת לכל סניף.",
        "ग्राहक को जैविक चाय पसंद है।",
        "ลูกค้าต้องการใบเสนอราคาใหม่",
        "Families: 👩‍👩‍👧‍👦 👨🏽‍🍳 🏳️‍🌈 🇮🇪🇯🇵 and a keycap 7️⃣.",
        "Decomposed: e\u{301} a\u{30A} n\u{303} o\u{308}\u{304}; composed: é å ñ ȫ.",
        "Outside of the basic plane: 𝒞𝓊𝓈𝓉ℴ𝓂ℯ𝓇 𠜎 𐍈 🧀.",
        "Quotes \"double\" and 'single', a backslash \\ and a tab\there.",
        "Prices: 12,50 € · £9.99 · ¥1 200 · ½ kg · 20 % · x² ≤ 10⁻³.",
        "Invisible: zero\u{200B}width, soft\u{AD}hyphen, \u{2067}isolated\u{2069}, no\u{A0}break.",
        "Ligatures ﬁ ﬂ, ß and ẞ, İstanbul and ıssız, Ǆ ǅ ǆ.",
    ]

    /// A text of about `bytes` bytes of UTF-8: at most this number, and less than one sentence below it.
    mutating func text(bytes: Int) -> String {
        var text = ""
        var length = 0
        while true {
            let number = numbers.next()
            let sentence = Self.sentences[Int(number % UInt64(Self.sentences.count))]
            let separator = number >> 32 & 7 == 0 ? "\n" : " "
            let size = sentence.utf8.count + 1
            guard length + size <= bytes else { return text.isEmpty ? String("Good customer.".prefix(bytes)) : text }
            text += sentence
            text += separator
            length += size
        }
    }
}

/// Pictures of 20 KB to 2 MB: BMP files of noise, which, like photographs, no compression makes smaller.
struct SamplePictures {
    private static let smallest = 20_480, largest = 2_097_152
    private static let width = 256, headerLength = 54

    private let count: Int
    private let noise: [UInt8]

    /// - Parameter count: the number of pictures from the smallest to the largest.
    init(count: Int) {
        self.count = count
        var numbers = SampleNumbers(seed: 3)
        noise = [UInt8](unsafeUninitializedCapacity: Self.largest) { buffer, length in
            buffer.withMemoryRebound(to: UInt64.self) { words in
                for index in words.indices { words[index] = numbers.next().littleEndian }
            }
            length = Self.largest
        }
    }

    /// The picture with this number, from 0. Sizes grow with the fourth power: most pictures are small, the last has 2 MB.
    func picture(_ index: Int) -> [UInt8] {
        let last = max(1, count - 1)
        let size = Self.smallest + (Self.largest - Self.smallest) * (index * index * index * index) / (last * last * last * last)
        let height = max(27, (size - Self.headerLength) / (3 * Self.width))
        let pixels = height * 3 * Self.width
        // A different part of the noise for each picture; the largest picture uses all of it.
        let start = min(index * 1009, noise.count - pixels)
        return header(height: height, pixels: pixels) + noise[start..<start + pixels]
    }

    /// The header of a BMP file with 24 bits per pixel.
    private func header(height: Int, pixels: Int) -> [UInt8] {
        func little(_ value: Int, _ bytes: Int) -> [UInt8] { (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        return [0x42, 0x4D] + little(Self.headerLength + pixels, 4) + little(0, 4) + little(Self.headerLength, 4)
            + little(40, 4) + little(Self.width, 4) + little(height, 4) + little(1, 2) + little(24, 2) + little(0, 4)
            + little(pixels, 4) + little(2835, 4) + little(2835, 4) + little(0, 4) + little(0, 4)
    }
}
