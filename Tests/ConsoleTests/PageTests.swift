internal import Console
internal import HTTPAPI
internal import Testing

@Suite("Pages of the console") struct PageTests {
    @Test func `the first page is found by its name and by none, and nothing leads out of the folder`() {
        let table = PageTable()
        #expect(table["/"]?.path == "index.html" && table["/"] == table["/index.html"])
        for path in ["", "//", "/index.html/", "/../index.html", "/.", "index.html", "/%69ndex.html", "/console.token"]
        {
            #expect(table[path] == nil, "\(path)")
        }
    }
}
