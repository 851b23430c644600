internal import Bytes
internal import ConsolePages
internal import Crypto

/// The files of the console: what a browser gets before anybody has shown who they are.
package struct PageTable: Sendable {
    /// A file.
    package struct Page: Hashable, Sendable {
        /// Below the folder, such as `lib/dom.js`.
        package let path: String
        package let contentType: String
        package let bytes: [UInt8]
        /// Stands for the content, in quotation marks as in the field `ETag`.
        package let tag: String
    }

    /// What is at `/`.
    private static let first = "index.html"
    private static let types = [
        "html": "text/html; charset=utf-8",
        "css": "text/css; charset=utf-8",
        "js": "text/javascript; charset=utf-8",
        "json": "application/json",
        "webmanifest": "application/manifest+json",
        "svg": "image/svg+xml",
        "png": "image/png",
    ]

    package let pages: [Page]
    private let byPath: [String: Int]

    /// Those that are in the program.
    package init() {
        var count = 0
        let table = unsafe console_pages(&count)
        pages = (0..<count).map { index in
            // The table is constant and as long as it says.
            let page = unsafe UnsafeBufferPointer(start: table, count: count)[index]
            let bytes = unsafe Array(UnsafeBufferPointer(start: page.bytes, count: page.count))
            let path = unsafe String(cString: page.path)
            let ending = path.split(separator: ".").last.map(String.init) ?? ""
            return Page(
                path: path,
                contentType: Self.types[ending] ?? "application/octet-stream",
                bytes: bytes,
                tag: "\"\(Base64URL.encode(Array(SHA256.hash(data: bytes)).prefix(12)))\""
            )
        }
        byPath = Dictionary(uniqueKeysWithValues: pages.enumerated().map { ("/" + $0.element.path, $0.offset) })
    }

    /// The file at a path as a browser asks for it.
    package subscript(path: String) -> Page? {
        byPath[path == "/" ? "/" + Self.first : path].map { pages[$0] }
    }
}
