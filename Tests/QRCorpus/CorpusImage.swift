package import QRCode
internal import TestSupport

/// A generated image and its expected texts.
package struct CorpusImage: Sendable {
    package let distortion: Distortion
    package let texts: [String]
    package let image: GreyImage

    /// The image of this number among those of a distortion: the same everywhere and at any time.
    ///
    /// Half of them have 640x480 pixels and half 1280x720, as cameras do; with `isSmall` all have 400x300.
    package init(_ distortion: Distortion, number: Int, isSmall: Bool = false) throws {
        var random = SplitMix64(seed: distortion.seed &+ UInt64(number) &* 7_919)
        var frame = (width: 640, height: 480)
        if number % 2 == 1 { frame = (1_280, 720) }
        if isSmall { frame = (400, 300) }
        let count = distortion == .several ? Int.random(in: 2...4, using: &random) : distortion == .empty ? 0 : 1
        var scene = Scene(width: frame.width, height: frame.height, paper: .random(in: 0.7...0.95, using: &random))
        var texts: [String] = []
        let columns = count <= 1 ? 1 : 2
        let rows = (count + columns - 1) / columns
        for index in 0..<count {
            let text = Payload.text(using: &random, longest: isSmall || count > 1 ? 150 : 600)
            let levels = ErrorCorrectionLevel.allCases
            let level = levels[distortion == .occluded ? Int.random(in: 1...3, using: &random) : number / 2 % 4]
            let symbol = try QRSymbol(encoding: text, level: level)
            let cell = (width: Double(frame.width / columns), height: Double(frame.height / rows))
            var view = View(
                middle: (cell.width * (Double(index % columns) + 0.5), cell.height * (Double(index / columns) + 0.5))
            )
            view.choose(distortion, size: symbol.size, room: min(cell.width, cell.height), using: &random)
            scene.draw(symbol, seen: view)
            if distortion == .occluded { scene.cover(symbol, seen: view, using: &random) }
            texts.append(text)
        }
        if distortion == .empty { scene.drawClutter(number / 2 % 3, using: &random) }
        scene.distort(distortion, using: &random)
        self.distortion = distortion
        self.texts = texts
        image = try scene.image()
    }
}

/// The texts that Runar writes into QR codes, by form and length.
private enum Payload {
    static func text(using random: inout SplitMix64, longest: Int) -> String {
        let lengths = [18, 44, 150, 260, 269, 317, 386].filter { $0 <= longest }
        let length = lengths[Int.random(in: 0..<lengths.count, using: &random)]
        if Int.random(in: 0..<3, using: &random) == 0 {
            return "RUNAR://JOIN/" + characters("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", length, using: &random)
        }
        let base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        guard length > 60 else { return characters(base64, length, using: &random) }
        let name = characters("abcdefghijklmnopqrstuvwxyz äöüé", 16, using: &random)
        return
            "{\"type\":\"network\",\"name\":\"\(name)\",\"key\":\"\(characters(base64, length - 50, using: &random))\"}"
    }

    private static func characters(_ set: String, _ count: Int, using random: inout SplitMix64) -> String {
        let all = Array(set)
        return String((0..<count).map { _ in all[Int.random(in: 0..<all.count, using: &random)] })
    }
}
