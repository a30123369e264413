// Counts.
module.exports.count = function () {};
exports.double = (a) => a * 2;
class A {
  #secret = 1;
  handle = () => {};
  static create() {}
}
export default {
  name: 'x',
  data() { return {}; },
  methods: { go: function () {} },
};
var legacy = function () {}, other = () => {};
const B = class {};
function* generate() {}
const OPTIONS = Object.freeze({});
