internal import Crypto
internal import SwiftASN1
internal import X509
