internal import Console
internal import Foundation
internal import TestSupport
internal import Testing

@Suite("Pages of the console") struct PageTests {
    private let pages = PageTable().pages

    @Test func `the program holds what lies in the folder (else run scripts/console-pages.sh)`() throws {
        let folder = packageRoot.appending(path: "Sources/Apps/ConsolePages/web")
        let found = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { path in
            var isFolder: ObjCBool = false
            _ = unsafe FileManager.default.fileExists(
                atPath: folder.appending(path: path).path,
                isDirectory: &isFolder
            )
            return !isFolder.boolValue && !path.split(separator: "/").contains { $0.hasPrefix(".") }
        }
        #expect(found.sorted() == pages.map(\.path).sorted())
        for page in pages {
            let isSame = try Data(contentsOf: folder.appending(path: page.path)) == Data(page.bytes)
            #expect(isSame, "\(page.path)")
        }
    }

    @Test func `every page has a type that a browser takes it for`() {
        for page in pages { #expect(page.contentType != "application/octet-stream", "\(page.path)") }
    }

    @Test func `the first page is found by its name and by none, and nothing leads out of the folder`() {
        let table = PageTable()
        #expect(table["/"]?.path == "index.html" && table["/"] == table["/index.html"])
        for path in ["", "//", "/index.html/", "/../index.html", "/.", "index.html", "/%69ndex.html", "/console.token"]
        {
            #expect(table[path] == nil, "\(path)")
        }
    }
}
