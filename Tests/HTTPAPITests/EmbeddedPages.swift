internal import ConsolePages
internal import Foundation
internal import HTTPAPI
internal import IdentityPages
internal import TestSupport
internal import Testing

/// The pages of a target, as they are in the program and in its folder.
struct EmbeddedPages: CustomTestStringConvertible, Sendable {
    static let all = [
        // The tables are constant.
        unsafe EmbeddedPages("ConsolePages", folder: "", views: ["views/networks.js"], PageTable(console_pages)),
        unsafe EmbeddedPages("IdentityPages", folder: "pages/", views: [], PageTable(identity_pages)),
    ]

    let target: String
    /// The folder of everything but `index.html`.
    let folder: String
    /// The modules of the first screen, besides `app.js`.
    let views: [String]
    let table: PageTable

    private init(_ target: String, folder: String, views: [String], _ table: PageTable) {
        self.target = target
        self.folder = folder
        self.views = views
        self.table = table
    }

    var testDescription: String { target }

    /// Returns the bytes of the files in the folder of the target, by path.
    func files() throws -> [String: Data] {
        let folder = packageRoot.appending(path: "Sources/Apps/\(target)/web")
        var files: [String: Data] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
            let file = folder.appending(path: path)
            var isFolder: ObjCBool = false
            _ = unsafe FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder)
            let isHidden = path.split(separator: "/").contains { $0.hasPrefix(".") }
            if !isFolder.boolValue, !isHidden { files[path] = try Data(contentsOf: file) }
        }
        return files
    }

    /// Returns the bytes of the embedded files that lie in the folder of the console, by path.
    func sharedFiles() throws -> [String: Data] {
        guard target != Self.all[0].target else { return [:] }
        let (own, console) = (try files(), try Self.all[0].files())
        let paths = table.pages.map(\.path).filter { own[$0] == nil && $0.hasPrefix(folder) }
        return paths.reduce(into: [:]) { $0[$1] = console[String($1.dropFirst(folder.count))] ?? Data() }
    }
}
