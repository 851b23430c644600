internal import Foundation
internal import QRCode
internal import QRCorpus

/// Reading of QR codes: the images, their texts, and the results of our reader.
enum CodeSide {
    /// The known facts about an image, and the text that was read in it.
    private struct Entry: Encodable {
        let file: String
        let distortion: String
        let height: Int
        let texts: [String]
        let read: [String]
        let milliseconds: Double
    }

    /// Writes `count` images of each distortion into a folder, reads each, and lists all of it in the folder's
    /// `corpus.json`.
    static func measure(count: Int, folder: String) throws {
        var entries: [Entry] = []
        let place = URL(filePath: folder)
        for distortion in Distortion.allCases {
            for number in 0..<count {
                let sample = try CorpusImage(distortion, number: number)
                let file = "\(distortion.rawValue)-\(number).pgm"
                let image = sample.image
                let header = Data("P5\n\(image.width) \(image.height)\n255\n".utf8)
                try (header + image.pixels).write(to: place.appending(path: file))
                let started = ContinuousClock.now
                let readings = QRReader().read(image)
                let spent = ContinuousClock.now - started
                let entry = Entry(
                    file: file,
                    distortion: distortion.rawValue,
                    height: image.height,
                    texts: sample.texts,
                    read: readings.compactMap(\.text),
                    milliseconds: spent.seconds * 1_000
                )
                entries.append(entry)
            }
        }
        try JSONEncoder().encode(entries).write(to: place.appending(path: "corpus.json"))
        Output.result(["pictures": entries.count])
    }
}
