internal import Foundation
internal import HTTPAPI
internal import Testing

@Suite("Embedded pages") struct EmbeddedPageTests {
    @Test(arguments: EmbeddedPages.all)
    func `the program holds the files of the folder (else run scripts/console-pages.sh)`(
        _ embedded: EmbeddedPages
    ) throws {
        let files = try embedded.files().merging(embedded.sharedFiles()) { own, _ in own }
        #expect(files.keys.sorted() == embedded.table.pages.map(\.path).sorted())
        for page in embedded.table.pages { #expect(files[page.path] == Data(page.bytes), "\(page.path)") }
    }

    @Test(arguments: EmbeddedPages.all)
    func `every page has a type that a browser takes it for`(_ embedded: EmbeddedPages) {
        for page in embedded.table.pages { #expect(page.contentType != "application/octet-stream", "\(page.path)") }
    }

    @Test func `the pages of the identity server stay small`() throws {
        let embedded = try #require(EmbeddedPages.all.last)
        let count = try embedded.files().values.map(\.count).reduce(0, +)
        #expect(count < 64_000 && embedded.table.pages.map(\.bytes.count).reduce(0, +) < 110_000)
    }
}
