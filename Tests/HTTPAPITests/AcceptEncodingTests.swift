internal import HTTPAPI
internal import Testing

@Suite("Accept-Encoding") struct AcceptEncodingTests {
    private static let fields: [(field: String?, takesGzip: Bool)] = [
        (nil, false), ("", false), ("gzip", true), ("GZip", true), ("x-gzip", true), ("br", false), ("gzipped", false),
        ("gzip, deflate, br, zstd", true), ("deflate, gzip;q=1.0, *;q=0.5", true), (", ,\tgzip ,", true),
        ("gzip;q=0", false), ("gzip;q=0.000", false), ("gzip ; q=0.001", true), ("gzip;Q=1", true),
        ("*", true), ("*;q=0", false), ("gzip;q=0, *", false), ("*;q=0, gzip", true),
        ("identity", false), ("identity;q=0.5, gzip;q=1", true), ("identity, gzip;q=0.5", false),
        ("identity;q=0, gzip;q=0.2", true), ("gzip;q=1.001", false), ("gzip;q=2", false), ("gzip;q=", false),
        ("gzip;q=0.1234", false), ("gzip;q=.5", false), ("gzip;q=0x5", false), ("gzip;level=9", false), (";q=1", false),
    ]

    @Test(arguments: fields) func `a browser gets gzip when it says so`(_ field: String?, _ takesGzip: Bool) {
        #expect(AcceptEncoding.admitsGzip(field) == takesGzip)
    }
}
