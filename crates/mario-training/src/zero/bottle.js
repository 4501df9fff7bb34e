const pick=document.getElementById("pick"),board=document.getElementById("board"),where=document.getElementById("where");
board.style.background="#20242c";board.style.width="min(100%,240px)";
const inks=["#e4483c","#f0c43c","#4a7be0"],kinds="abc.efg.ijk.mno.qrs.uvw";
let at=0;
games.forEach((g,i)=>pick.add(new Option(`game ${g.head.number}, round ${g.head.round}: level ${g.head.level}, ${g.head.ending.replace(/_/g," ")}, ${g.pills.length} pills`,i)));
function cell(letter,x,y,c){const k=kinds.indexOf(letter);if(k<0)return"";const ink=inks[k%4],shape=k>>2,X=x*c,Y=y*c,h=c/2;
if(shape===0)return`<circle cx="${X+h}" cy="${Y+h}" r="${h-2}" fill="${ink}"/><circle cx="${X+7}" cy="${Y+8}" r="1.8"/><circle cx="${X+13}" cy="${Y+8}" r="1.8"/><path d="M${X+6} ${Y+14}q4 -3 8 0" stroke="#000" fill="none"/>`;
const joined=[0,0,[1,0,c-2,h],[1,h,c-2,h],[h,1,h,c-2],[0,1,h,c-2]][shape];
return`<rect x="${X+1}" y="${Y+1}" width="${c-2}" height="${c-2}" rx="7" fill="${ink}"/>`+(joined?`<rect x="${X+joined[0]}" y="${Y+joined[1]}" width="${joined[2]}" height="${joined[3]}" fill="${ink}"/>`:"")}
function draw(){const g=games[pick.value];if(!g){where.textContent="no game yet";return}
at=Math.max(0,Math.min(g.pills.length,at));const c=20,letters=g.boards[at];let h="";
for(let i=0;i<128;i++)h+=cell(letters[i],i%8,Math.floor(i/8),c);
if(at<g.pills.length){const[x,y,v]=g.pills[at];h+=`<rect x="${x*c+1}" y="${(15-y-v)*c+1}" width="${v?c-2:2*c-2}" height="${v?2*c-2:c-2}" rx="8" fill="none" stroke="#fff" stroke-width="1.5" stroke-dasharray="3 2"/>`}
board.setAttribute("viewBox",`-3 -3 ${8*c+6} ${16*c+6}`);board.innerHTML=h;where.textContent=`pill ${at} of ${g.pills.length}`}
pick.onchange=()=>{at=0;draw()};document.getElementById("back").onclick=()=>{at--;draw()};document.getElementById("on").onclick=()=>{at++;draw()};
document.onkeydown=e=>{if(e.key==="ArrowLeft"){at--;draw()}if(e.key==="ArrowRight"){at++;draw()}};
pick.value=games.length-1;draw();
