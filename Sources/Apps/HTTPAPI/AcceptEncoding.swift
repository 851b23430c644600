/// The field `Accept-Encoding` of a request (RFC 9110, section 12.5.3).
package enum AcceptEncoding {
    /// Whether `gzip` is acceptable and its weight is at least that of `identity`.
    package static func admitsGzip(_ field: String?) -> Bool {
        var weights: [String: Int] = [:]
        for part in (field ?? "").split(separator: ",") {
            let words = part.split(separator: ";", omittingEmptySubsequences: false).map(trimmed)
            guard let coding = words.first, !coding.isEmpty else { continue }
            // A malformed weight counts as 0.
            let weight = words.count == 1 ? 1000 : words.count == 2 ? Self.weight(words[1]) ?? 0 : 0
            weights[coding == "x-gzip" ? "gzip" : coding] = weight
        }
        let gzip = weights["gzip"] ?? weights["*"] ?? 0
        return gzip > 0 && gzip >= weights["identity"] ?? 0
    }

    /// The thousandths of `q=0.5`: a digit and up to three places, from 0 to 1.
    private static func weight(_ text: String) -> Int? {
        let digits = text.hasPrefix("q=") ? Array(text.utf8.dropFirst(2)) : []
        guard let whole = digits.first.flatMap(value), whole <= 1, digits.count <= 5 else { return nil }
        if digits.count > 1, digits[1] != UInt8(ascii: ".") { return nil }
        var thousandths = whole
        for place in 2..<5 {
            guard let digit = digits.count > place ? value(digits[place]) : 0 else { return nil }
            thousandths = thousandths * 10 + digit
        }
        return thousandths <= 1000 ? thousandths : nil
    }

    private static func value(_ digit: UInt8) -> Int? {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) ? Int(digit - UInt8(ascii: "0")) : nil
    }

    private static func trimmed(_ text: Substring) -> String {
        let isSpace = { (character: Character) in character == " " || character == "\t" }
        return String(text.drop(while: isSpace).reversed().drop(while: isSpace).reversed()).lowercased()
    }
}
