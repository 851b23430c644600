internal import Bytes
internal import Essentials

/// Lets the codecs of Bytes read and write the bytes in one piece instead of one by one.
extension Data: ByteBlob {}
