/**
 * The harmless options of ordinary programs that read, copy, pack or change what their words name. What is not here
 * runs a program, takes names from a list, or writes a file by a name that it makes up. [SH-54] [SH-59]
 */
import type { Harmless } from "./shell-options.ts";

/** Every word of theirs is text or an operand. */
const anyOption: Harmless = { like: /^-/ };
const sums: Harmless = {
  short: "a:bctwzl:",
  long: "algorithm= binary check text tag untagged zero quiet status strict warn ignore-missing length= base64 raw",
};
const bases: Harmless = { short: "dDiw:", long: "decode ignore-garbage wrap= base64 base32 base16 base64url" };
const listing: Harmless = {
  short: "aAbBcCdDfFgGhHiI:klLmnNopqQrRsStT:uUvw:xXZ#",
  long: `all almost-all author escape block-size= ignore-backups color?= directory dired classify?= file-type format=
    full-time group-directories-first no-group human-readable si dereference-command-line dereference hide= hyperlink?=
    indicator-style= inode ignore= kibibytes literal hide-control-chars show-control-chars quote-name quoting-style=
    reverse recursive size sort= time= time-style= tabsize= width= context zero`,
};
const grep: Harmless = {
  short: "acEFGHhiIlLnoPqrRsTUvVwxyzZbA:B:C:D:d:e:f@m:#",
  long: `extended-regexp fixed-strings basic-regexp perl-regexp regexp= file=@ ignore-case no-ignore-case word-regexp
    line-regexp null-data no-messages invert-match max-count= byte-offset line-number line-buffered with-filename
    no-filename label= only-matching quiet silent binary-files= text directories= devices= recursive
    dereference-recursive include= exclude= exclude-from=@ exclude-dir= files-without-match files-with-matches count
    initial-tab null before-context= after-context= context= group-separator= no-group-separator color?= colour?=`,
};
const owning: Harmless = {
  short: "cfvhRHLP",
  long: `changes silent quiet verbose dereference no-dereference from= no-preserve-root preserve-root reference=@
    recursive`,
};
/** Not `-S`: it chooses the ending of the file that is written; nor `-N` and `-r`: the names are not in the words. */
const gzip: Harmless = {
  short: "cdfhklLnqtv#",
  long: `stdout to-stdout decompress uncompress force keep list no-name quiet test verbose fast best
    rsyncable synchronous`,
};
const bzip2: Harmless = {
  short: "cdzktfqvsh#",
  long: "stdout decompress compress keep test force quiet verbose small fast best repetitive-fast repetitive-best",
};
const xz: Harmless = {
  short: "zdtlkfcqveT:#",
  long: `compress decompress uncompress test list keep force stdout to-stdout quiet verbose extreme threads= no-warn
    memlimit= single-stream no-sparse robot`,
};
const zstd: Harmless = {
  short: "zdfkqvctlCT?o@D@#",
  long: `compress decompress force keep quiet verbose stdout test list rm ultra fast?= long?= adapt
    no-progress progress threads= check no-check sparse no-sparse rsyncable output-dir-flat=@ output-dir-mirror=@`,
};
const lz4: Harmless = {
  short: "zdfkqvctmrlB?#",
  long: "compress decompress force keep quiet verbose stdout test multiple rm fast?= best no-frame-crc content-size",
};
const ending: Harmless = { short: "bfknoqsuvO", long: "force keepdate newfile oldfile quiet safe keep-bom verbose" };
/** Not `-S`: it chooses the name of the file that is kept. */
const copying = `backup?= force interactive no-clobber target-directory=@ no-target-directory update?= verbose
  strip-trailing-slashes`;

export const plainTable: Readonly<Record<string, Harmless>> = {
  ...{ ":": anyOption, "[": anyOption, test: anyOption, true: anyOption, false: anyOption, echo: anyOption },
  ...{ printf: anyOption, expr: anyOption, kill: anyOption, ps: anyOption, yes: anyOption, return: anyOption },
  ...{ exit: anyOption, ulimit: anyOption, umask: anyOption, caller: anyOption, disown: anyOption, sleep: anyOption },
  ...{ seq: { short: "wf:s:", like: /^-[\d.]/, long: "format= separator= equal-width" }, wait: { short: "fn" } },
  ag: {
    short: "acDfFgGhHiIlLnoQrRsSuUvVwzA:B:C:m:",
    long: `ackmate all-types all-text count numbers nonumbers after?= before?= context?= break nobreak group nogroup color
      nocolor column filename nofilename files-with-matches files-without-matches file-search-regex= hidden
      ignore-case case-sensitive smart-case ignore= ignore-dir= depth= literal fixed-strings follow max-count=
      only-matching print-all-files silent stats unrestricted vimgrep invert-match word-regexp width= search-zip null`,
  },
  ...{ b2sum: sums, cksum: sums, md5sum: sums, sha1sum: sums, sha224sum: sums, sha256sum: sums, sha384sum: sums },
  ...{ sha512sum: sums, shasum: { ...sums, short: "a:bctUs0pwq" }, sum: { short: "rs", long: "sysv" } },
  ...{ base32: bases, base64: bases, basenc: bases },
  basename: { short: "as:z", long: "multiple suffix= zero" },
  ...{ bzcat: { short: "dkfqvsc" }, zcat: { short: "cdfqvrlt" }, xzcat: { short: "dcfkqvT:" } },
  zstdcat: { short: "cdfqv", long: "force quiet verbose no-progress" },
  ...{ grep, egrep: grep, fgrep: grep, zgrep: grep, bzgrep: grep },
  cal: { short: "jmsynwYA:B:#", long: "monday sunday julian year three one months= week color?=" },
  cat: {
    short: "AbeEnstTuv",
    long: "show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting",
  },
  ...{ cd: { short: "LPe" }, pwd: { short: "LP" }, pushd: { like: /^-(?:n|\d+)$/ }, popd: { like: /^-(?:n|\d+)$/ } },
  dirs: { short: "clpv#" },
  cmp: { short: "bi:ln:s", long: "print-bytes ignore-initial= verbose bytes= silent quiet" },
  column: {
    short: "texJLdc:s:o:N:R:T:H:O:W:n:l:",
    long: `table json separator= output-separator= output-width= table-columns= table-right= table-truncate= table-hide=
      table-order= table-name= table-wrap= table-columns-limit= table-noheadings fillrows keep-empty-lines`,
  },
  comm: { short: "123z", long: "check-order nocheck-order output-delimiter= total zero-terminated" },
  cut: {
    short: "b:c:d:f:nsz",
    long: "bytes= characters= delimiter= fields= complement only-delimited output-delimiter= zero-terminated",
  },
  df: {
    short: "aB:hHiklPTt:vx:",
    long: "all block-size= human-readable si inodes local portability print-type type= exclude-type= total output?= sync",
  },
  ...{ ls: listing, dir: listing, vdir: listing },
  dirname: { short: "z", long: "zero" },
  du: {
    short: "0aAbB:cd:DhHklLmPSst:xX@",
    long: `all apparent-size block-size= bytes total dereference-args max-depth= human-readable inodes dereference
      no-dereference separate-dirs si summarize threshold= time?= time-style= exclude-from=@ exclude= one-file-system
      null`,
  },
  ...{ expand: { short: "it:#", long: "initial tabs=" }, unexpand: { short: "at:#", long: "all first-only tabs=" } },
  ...{ fmt: { short: "ctsuw:g:p:#", long: "width= uniform-spacing split-only" }, factor: { short: "h" } },
  fold: { short: "bsw:#", long: "bytes spaces width=" },
  free: { short: "bkmghlts:c:wv", long: "human total wide bytes kibi mebi gibi mega giga si lohi" },
  ...{ getconf: { short: "av:" }, getent: { short: "s:i" } },
  head: { short: "c:n:qvz#", long: "bytes= lines= quiet silent verbose zero-terminated" },
  tail: {
    short: "c:n:fFqrvzs:#",
    long: "bytes= lines= follow?= pid= retry quiet silent sleep-interval= verbose zero-terminated max-unchanged-stats=",
  },
  hexdump: { short: "bcCdove:f@n:s:x", long: "canonical length= skip= no-squeezing color?=" },
  hostid: {},
  id: { short: "agGnruzZ", long: "group groups name real user zero context" },
  join: { short: "a:e:i1:2:j:o:t:v:z", long: "ignore-case check-order nocheck-order header zero-terminated" },
  jobs: { short: "lnprs" },
  jq: {
    short: "nrjaSCMcsReVhf@L@",
    long: `null-input raw-output join-output raw-output0 ascii-output sort-keys color-output monochrome-output
      compact-output slurp raw-input exit-status tab indent= unbuffered stream stream-errors seq from-file=@ arg=
      argjson= slurpfile= rawfile= args jsonargs`,
  },
  ...{ locale: { short: "ackm", long: "all-locales" }, look: { short: "abdft:" } },
  lsblk: { short: "abdDe:fI:iJlmMnNo:OpPrsSt", long: "all bytes json list output= paths fs" },
  lsof: { short: "nPtlaURp:u:c:d:i?s?" },
  nl: { short: "b:d:f:h:i:l:n:ps:v:w:" },
  nproc: { long: "all ignore=" },
  numfmt: {
    short: "d:z",
    long: `delimiter= field= format= from= from-unit= to= to-unit= grouping header?= invalid= padding= round= suffix=
      zero-terminated`,
  },
  od: {
    short: "A:j:N:S:t:vw?abcdfhiloOsx",
    long: "address-radix= skip-bytes= read-bytes= format= width?= traditional",
  },
  paste: { short: "d:sz", long: "delimiters= serial zero-terminated" },
  pathchk: { short: "pP" },
  pgrep: { short: "lafnovxciwrAu:U:P:t:g:G:s:d:", long: "full list-name list-full newest oldest exact count" },
  pr: { short: "adcfFJmrtTD:h:l:N:o:W:w:e?i?n?s?S?#" },
  printenv: { short: "0" },
  readlink: { short: "femnqsvz", long: "canonicalize canonicalize-existing canonicalize-missing no-newline zero" },
  realpath: {
    short: "emELPqsz",
    long: `canonicalize canonicalize-existing canonicalize-missing logical physical quiet relative-to= relative-base=
      strip no-symlinks zero`,
  },
  stat: { short: "Lfc:tZ", long: "dereference file-system format= printf= terse" },
  strings: { short: "afn:t:e:ows:Td#", long: "all bytes= radix= encoding=" },
  tac: { short: "brs:", long: "before regex separator=" },
  tr: { short: "cCdst", long: "complement delete squeeze-repeats truncate-set1" },
  ...{ tty: { short: "s" }, type: { short: "afptP" }, which: { short: "as" }, whereis: { short: "bmsu" } },
  uname: { short: "asnrvmpio", long: "all kernel-name nodename kernel-release machine operating-system" },
  ...{ uptime: { short: "ps", long: "pretty since" }, who: { short: "abdHlmpqrstTu" } },
  wc: { short: "clmwL", long: "bytes chars lines max-line-length words total=" },

  ...{ gzip, gunzip: gzip, uncompress: gzip, bzip2, bunzip2: bzip2, xz, unxz: xz, lzma: xz, unlzma: xz },
  ...{ zstd, unzstd: zstd, lz4, unlz4: lz4, dos2unix: ending, unix2dos: ending },
  brotli: { short: "dfkcntjvo@q:w:#", long: "decompress force keep stdout test rm verbose output=@ quality= lgwin=" },
  ...{ chgrp: owning, chown: owning, chmod: { ...owning, like: /^-[rwxXst]+$/ } },
  chattr: { short: "RVf", like: /^-[aAcCdDeijPsStTuFmx]+$/ },
  cp: {
    short: "abdfiHlLnpPrRsTuvxZt@",
    long: `${copying} archive attributes-only copy-contents dereference no-dereference link symbolic-link preserve?=
      no-preserve= parents recursive reflink?= remove-destination sparse= one-file-system`,
  },
  mv: { short: "bfinTuvZt@", long: copying },
  ln: {
    short: "bdfFiLnPrsTvt@",
    long: `${copying} directory logical physical no-dereference relative symbolic`,
  },
  install: {
    short: "bcCdDpsTvg:m:o:t@",
    long: "backup?= compare directory group= mode= owner= preserve-timestamps strip target-directory=@ verbose",
  },
  csplit: {
    // Not `-b`: it writes the rest of the name, a folder included.
    short: "f@n:kszq",
    long: "prefix=@ digits= keep-files quiet silent elide-empty-files suppress-matched",
  },
  mkdir: { short: "pvm:Z", long: "parents verbose mode=" },
  ...{ mkfifo: { short: "m:", long: "mode=" }, mknod: { short: "m:", long: "mode=" } },
  mktemp: { short: "dqtup@", long: "directory dry-run quiet suffix= tmpdir=@" },
  rm: {
    short: "dfiIrRv",
    long: "dir force interactive?= one-file-system preserve-root no-preserve-root recursive verbose",
  },
  rmdir: { short: "pv", long: "parents verbose ignore-fail-on-non-empty" },
  setfacl: {
    short: "bkdRLPnm:x:M@X@",
    long: "modify= remove= remove-all remove-default recursive default no-mask mask",
  },
  shred: { short: "fn:s:uvxz", long: "force iterations= size= remove?= verbose exact zero" },
  ...{ sponge: { short: "a" }, sync: { short: "df", long: "data file-system" } },
  tee: { short: "aip", long: "append ignore-interrupts output-error?=" },
  touch: { short: "acd:fhmt:r@", long: "no-create date= no-dereference reference=@ time=" },
  truncate: { short: "cos:r@", long: "no-create io-blocks size= reference=@" },
  uniq: {
    short: "cdDiuf:s:w:z",
    long: `count repeated all-repeated?= skip-fields= skip-chars= ignore-case unique check-chars= group?=
      zero-terminated`,
  },
  xxd: { short: "abeEpruiCdc:g:l:n:o:s:" },
};
