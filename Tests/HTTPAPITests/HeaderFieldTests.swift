internal import HTTPAPI
internal import Testing

@Suite("Header fields") struct HeaderFieldTests {
    @Test(arguments: [
        "a\r\nX-Other: b", "a\nb", "a\rb", "a\u{0}", " a", "a ", "\ta", "a\u{7F}", "\r\n",
    ])
    func `a value that could end its line is refused`(value: String) {
        var fields = HeaderFields()
        #expect(throws: HeaderFieldError.badValue(name: "x-one")) { try fields.append("X-One", value) }
        #expect(fields == HeaderFields())
        #expect(throws: HeaderFieldError.self) { try RouteAnswer.text("").adding("Location", value) }
    }

    @Test(arguments: ["", "a b", "a:", "a\r\n", ":status", "ä", "a\u{0}"])
    func `a name that is no token is refused`(name: String) {
        var fields = HeaderFields()
        #expect(throws: HeaderFieldError.badName) { try fields.append(name, "a") }
    }

    @Test(arguments: ["Content-Length", "content-length", "Transfer-Encoding", "Connection", "Upgrade", "Trailer"])
    func `a field that frames the message is refused`(name: String) {
        var fields = HeaderFields()
        #expect(throws: HeaderFieldError.reserved(name: name.lowercased())) { try fields.append(name, "1") }
    }

    @Test func `a field is found by its name in any case, with each of its values`() throws {
        var fields = HeaderFields()
        try fields.append("Link", "<a>")
        try fields.append("link", "<ä>")
        try fields.append("X-Empty", "")
        #expect(fields["LINK"] == "<a>, <ä>" && fields.values(of: "Link") == ["<a>", "<ä>"])
        #expect(fields["x-empty"]?.isEmpty == true && fields["X-Other"] == nil && fields["no name"] == nil)
    }
}
